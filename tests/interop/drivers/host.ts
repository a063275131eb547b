// A host's side of the conversation, as far as it is types: compiled by the tests, never run.
import type {
  ClientMessage20251125,
  ContentBlock,
  JSONRPCErrorResponse,
  ServerMessage20251125,
  Tool,
  ToolsCallParams20260728,
  ToolsCallResponse,
  ToolsCallResult20260728,
  ToolsListResponse,
} from './toolwire'

export const hello: ClientMessage20251125[] = [
  {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: { form: {} }, roots: {} },
      clientInfo: { name: 'host', version: '1' },
    },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 1, method: 'tools/list' },
]

export function call(id: number, name: string, args: Record<string, unknown>): ClientMessage20251125 {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: { progressToken: id } } }
}

/** What a message from the server leads to: an answer, or nothing. */
export function receive(message: ServerMessage20251125): ClientMessage20251125 | undefined {
  if (!('method' in message)) return undefined
  switch (message.method) {
    case 'elicitation/create': {
      const fields = Object.entries(message.params.requestedSchema.properties)
      const yes = fields.filter(([, field]) => field.type === 'boolean').map(([name]) => [name, true])
      return { jsonrpc: '2.0', id: message.id, result: { action: 'accept', content: Object.fromEntries(yes) } }
    }
    case 'notifications/progress':
      console.log(message.params.progress.toFixed(), message.params.message?.length)
      return undefined
    case 'notifications/message':
      console.log(message.params.level, JSON.stringify(message.params.data))
      return undefined
    case 'notifications/cancelled':
    case 'notifications/prompts/list_changed':
    case 'notifications/resources/list_changed':
    case 'notifications/tools/list_changed':
    case 'notifications/tasks/status':
      return undefined
  }
}

export const add = {
  name: 'add',
  inputSchema: { type: 'object', properties: { a: { type: 'integer', minimum: 0 } }, 'x-order': ['a'] },
} satisfies Tool

export const readers = (response: ToolsListResponse): Tool[] =>
  response.result.tools.filter(tool => tool.annotations?.readOnlyHint)

export function shown(response: ToolsCallResponse | JSONRPCErrorResponse): string {
  return 'error' in response ? response.error.message : response.result.content.map(text).join('\n')
}

function text(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `(${block.mimeType})`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : block.resource.uri
    case 'resource_link':
      return block.name
  }
}

/** The call again, with the user's answers; undefined if the tool has answered. */
export function again(params: ToolsCallParams20260728, result: ToolsCallResult20260728) {
  if (result.resultType === 'complete') return void result.content.length
  if (result.resultType === 'task') return void result.taskId
  const questions = Object.entries(result.inputRequests ?? {})
  const declined = questions.map(([name]) => [name, { action: 'decline' as const }])
  const next: ToolsCallParams20260728 = { ...params, inputResponses: Object.fromEntries(declined) }
  return { ...next, ...(result.requestState === undefined ? {} : { requestState: result.requestState }) }
}

export const mistakes: unknown[] = [
  // @ts-expect-error: no such method
  { jsonrpc: '2.0', id: 1, method: 'tools/lisst' } satisfies ClientMessage20251125,
  // @ts-expect-error: a call names its tool
  { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} } satisfies ClientMessage20251125,
  // @ts-expect-error: an id is no null
  { jsonrpc: '2.0', id: null, method: 'ping' } satisfies ClientMessage20251125,
  // @ts-expect-error: a tool says what it takes
  { name: 'add' } satisfies Tool,
  // @ts-expect-error: which is an object
  { name: 'add', inputSchema: { type: 'array' } } satisfies Tool,
  // @ts-expect-error: whose members are described by schemas
  { name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'int' } } } } satisfies Tool,
  // @ts-expect-error: text is text
  { type: 'text', text: 1 } satisfies ContentBlock,
  // @ts-expect-error: every request of this revision says which one it is of
  { name: 'add' } satisfies ToolsCallParams20260728,
]
