// The types of Toolwire's published schemas, v1: what a tool server and its host say to each other, and more.
// Generated from the *.schema.json beside this file by schemas/declarations.mjs; not to be changed by hand.

/**
 * A JSON Schema that says `"type": "object"` at its root.
 */
export type SchemaOfObject = JSONSchema & {
  type: 'object'
}
/**
 * A JSON Schema of draft 2020-12, as every schema is that names no other dialect in `$schema`.
 */
export type JSONSchema = JSONSchemaKeywords | boolean | JSONSchemaOfAnotherDialect
/**
 * Identifies a request until its response: text, or an integer of up to 4,300 digits. The sender chooses it, different from the ids of its other pending requests; the response has the same id, unchanged. (JSON-RPC also knows null and fractions, and advises against both. MCP and Toolwire refuse them with -32600.)
 */
export type JSONRPCId = string | number
/**
 * A part of what a tool answers: text, a picture, a sound, a file, or a link to something that the host may fetch.
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink
/**
 * How grave it is: `must` (the specification demands it, or hosts break), `should`, or `advice` (good to have).
 */
export type ContractSeverity = 'must' | 'should' | 'advice'
/**
 * One step: something to do, or something to expect. Expectations may have a `severity` of their own.
 */
export type ContractStep =
  | SendStep
  | RawStep
  | BytesStep
  | RepeatStep
  | ListStep
  | SettleStep
  | CloseStep
  | SignalStep
  | AnswerExpectation
  | RefusalExpectation
  | SilenceExpectation
  | OrderExpectation
  | SomeExpectation
  | NoneExpectation
  | EveryExpectation
  | QuietExpectation
  | RuleExpectation
  | ExitExpectation
  | OrphansExpectation
/**
 * Text or bytes. In a string, `${name}` stands for the JSON of the value of that name.
 */
export type ContractText = string | ContractBytes | ContractRepetition | ContractText[]
/**
 * A field of a form.
 */
export type ElicitationField =
  ElicitationTextField | ElicitationNumberField | ElicitationYesOrNoField | ElicitationChoicesField
/**
 * The answer to a `tools/call` of 2026-07-28 whose tool asks the user: the client puts the questions and calls again. The tool goes on where it was.
 */
export type InputRequiredResult = Result20260728 & {
  resultType: 'input_required'
  /**
   * The questions, by names that the answers will carry.
   */
  inputRequests?: {
    [k: string]: InputRequest
  }
  /**
   * To be sent back as it is. It is not to be read, and may be used once.
   */
  requestState?: string
}
/**
 * A result that is all of it.
 */
export type CompleteResult20260728 = Result20260728 & {
  resultType: 'complete'
}
/**
 * A result that a client may keep.
 */
export type CacheableResult20260728 = CompleteResult20260728 & {
  /**
   * For how many milliseconds; 0 means not at all.
   */
  ttlMs: number
  /**
   * For everybody, or for this user only.
   */
  cacheScope: 'public' | 'private'
}
/**
 * Several messages in one array. A batch of requests is answered by one array of answers, in any order; notifications have none in it, and a batch of nothing else is not answered at all. Of MCP's revisions only 2025-03-26 has batches; Toolwire takes them in all.
 *
 * @minItems 1
 */
export type JSONRPCBatch = (JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCErrorResponse)[]
/**
 * Any message between a client and a tool server that agreed on MCP 2024-11-05, the first revision.
 */
export type MCPMessage20241105 = ClientMessage20241105 | ServerMessage20241105
/**
 * What a client sends.
 */
export type ClientMessage20241105 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | NotificationsCancelledNotification
/**
 * A request: `initialize`.
 */
export type InitializeRequest = JSONRPCRequest & {
  method: 'initialize'
  params: InitializeParams
}
/**
 * A notification: `notifications/initialized`.
 */
export type NotificationsInitializedNotification = JSONRPCNotification & {
  method: 'notifications/initialized'
  params?: NoParams
}
/**
 * A request: `ping`.
 */
export type PingRequest = JSONRPCRequest & {
  method: 'ping'
  params?: NoParams
}
/**
 * A request: `tools/list`.
 */
export type ToolsListRequest = JSONRPCRequest & {
  method: 'tools/list'
  params?: ToolsListParams
}
/**
 * A request: `tools/call`.
 */
export type ToolsCallRequest = JSONRPCRequest & {
  method: 'tools/call'
  params: ToolsCallParams
}
/**
 * A notification: `notifications/cancelled`.
 */
export type NotificationsCancelledNotification = JSONRPCNotification & {
  method: 'notifications/cancelled'
  params: NotificationsCancelledParams
}
/**
 * What a server sends.
 */
export type ServerMessage20241105 =
  | InitializeResponse20241105
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | NotificationsProgressNotification
  | NotificationsToolsListChangedNotification
  | JSONRPCErrorResponse
/**
 * The answer to `initialize`.
 */
export type InitializeResponse20241105 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2024-11-05'
  }
}
/**
 * The answer to `ping`.
 */
export type PingResponse = JSONRPCResponse & {
  result: PingResult
}
/**
 * The answer to `tools/list`.
 */
export type ToolsListResponse = JSONRPCResponse & {
  result: ToolsListResult
}
/**
 * The answer to `tools/call`.
 */
export type ToolsCallResponse = JSONRPCResponse & {
  result: ToolsCallResult
}
/**
 * A notification: `notifications/progress`.
 */
export type NotificationsProgressNotification = JSONRPCNotification & {
  method: 'notifications/progress'
  params: NotificationsProgressParams
}
/**
 * A notification: `notifications/tools/list_changed`.
 */
export type NotificationsToolsListChangedNotification = JSONRPCNotification & {
  method: 'notifications/tools/list_changed'
  params?: NoParams
}
/**
 * Any message between a client and a tool server that agreed on MCP 2025-03-26. It is the one revision with batches, and brought annotations of tools.
 */
export type MCPMessage20250326 =
  ClientMessage20250326 | ServerMessage20250326 | ClientBatch20250326 | ServerBatch20250326
/**
 * What a client sends.
 */
export type ClientMessage20250326 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | NotificationsCancelledNotification
/**
 * What a server sends.
 */
export type ServerMessage20250326 =
  | InitializeResponse20250326
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | NotificationsProgressNotification
  | NotificationsToolsListChangedNotification
  | JSONRPCErrorResponse
/**
 * The answer to `initialize`.
 */
export type InitializeResponse20250326 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2025-03-26'
  }
}
/**
 * Several messages in one array; the server answers with one array.
 *
 * @minItems 1
 */
export type ClientBatch20250326 = ClientMessage20250326[]
/**
 * The answers to a batch.
 *
 * @minItems 1
 */
export type ServerBatch20250326 = ServerMessage20250326[]
/**
 * Any message between a client and a tool server that agreed on MCP 2025-06-18. It brought questions to the user (`elicitation/create`) and structured content, and took batches away.
 */
export type MCPMessage20250618 = ClientMessage20250618 | ServerMessage20250618
/**
 * What a client sends.
 */
export type ClientMessage20250618 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | NotificationsCancelledNotification
  | ElicitationCreateResponse
  | JSONRPCErrorResponse
/**
 * The answer to `elicitation/create`.
 */
export type ElicitationCreateResponse = JSONRPCResponse & {
  result: ElicitationCreateResult
}
/**
 * What a server sends.
 */
export type ServerMessage20250618 =
  | InitializeResponse20250618
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | NotificationsProgressNotification
  | NotificationsToolsListChangedNotification
  | JSONRPCErrorResponse
  | ElicitationCreateRequest20250618
  | NotificationsCancelledNotification
/**
 * The answer to `initialize`.
 */
export type InitializeResponse20250618 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2025-06-18'
  }
}
/**
 * A request: `elicitation/create`, which in this revision says no `mode`.
 */
export type ElicitationCreateRequest20250618 = ElicitationCreateRequest & {
  params: {
    mode?: never
  }
}
/**
 * A request: `elicitation/create`.
 */
export type ElicitationCreateRequest = JSONRPCRequest & {
  method: 'elicitation/create'
  params: ElicitationCreateParams
}
/**
 * Any message between a client and a tool server that agreed on MCP 2025-11-25, the newest revision with a handshake.
 */
export type MCPMessage20251125 = ClientMessage20251125 | ServerMessage20251125
/**
 * What a client sends.
 */
export type ClientMessage20251125 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | NotificationsCancelledNotification
  | ElicitationCreateResponse
  | JSONRPCErrorResponse
/**
 * What a server sends.
 */
export type ServerMessage20251125 =
  | InitializeResponse20251125
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | NotificationsProgressNotification
  | NotificationsToolsListChangedNotification
  | JSONRPCErrorResponse
  | ElicitationCreateRequest
  | NotificationsCancelledNotification
/**
 * The answer to `initialize`.
 */
export type InitializeResponse20251125 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2025-11-25'
  }
}
/**
 * Any message between a client and a tool server that speak MCP 2026-07-28: no handshake, no request from the server, and in every request what it needs to be understood.
 */
export type MCPMessage20260728 = ClientMessage20260728 | ServerMessage20260728
/**
 * What a client sends.
 */
export type ClientMessage20260728 =
  | ServerDiscoverRequest
  | ToolsListRequest20260728
  | ToolsCallRequest20260728
  | SubscriptionsListenRequest
  | NotificationsCancelledNotification
/**
 * A request: `server/discover`.
 */
export type ServerDiscoverRequest = JSONRPCRequest & {
  method: 'server/discover'
  params: ServerDiscoverParams
}
/**
 * A request: `tools/list`.
 */
export type ToolsListRequest20260728 = JSONRPCRequest & {
  method: 'tools/list'
  params: ToolsListParams20260728
}
/**
 * A request: `tools/call`.
 */
export type ToolsCallRequest20260728 = JSONRPCRequest & {
  method: 'tools/call'
  params: ToolsCallParams20260728
}
/**
 * The params of `tools/call` since 2026-07-28. A call that was answered by `input_required` is made again, with the same arguments, the user's answers and the state that came with the questions.
 */
export type ToolsCallParams20260728 = ToolsCallParams & {
  _meta: RequestMeta20260728
  /**
   * The user's answers, by the names of the questions.
   */
  inputResponses?: {
    [k: string]: ElicitationCreateResult
  }
  /**
   * The state that came with the questions, as it was.
   */
  requestState?: string
}
/**
 * A request: `subscriptions/listen`.
 */
export type SubscriptionsListenRequest = JSONRPCRequest & {
  method: 'subscriptions/listen'
  params: SubscriptionsListenParams
}
/**
 * What a server sends.
 */
export type ServerMessage20260728 =
  | ServerDiscoverResponse
  | ToolsListResponse20260728
  | ToolsCallResponse20260728
  | NotificationsSubscriptionsAcknowledgedNotification
  | NotificationsToolsListChangedNotification20260728
  | SubscriptionsListenResponse
  | NotificationsProgressNotification
  | JSONRPCErrorResponse
/**
 * The answer to `server/discover`.
 */
export type ServerDiscoverResponse = JSONRPCResponse & {
  result: ServerDiscoverResult
}
/**
 * The answer to `server/discover`.
 */
export type ServerDiscoverResult = CacheableResult20260728 & {
  /**
   * The revisions that the server speaks, the newest first.
   *
   * @minItems 1
   */
  supportedVersions: string[]
  capabilities: ServerCapabilities
  /**
   * How to use the tools, for the model.
   */
  instructions?: string
}
/**
 * The answer to `tools/list`.
 */
export type ToolsListResponse20260728 = JSONRPCResponse & {
  result: ToolsListResult20260728
}
/**
 * The answer to `tools/list` since 2026-07-28. It is the same for every connection.
 */
export type ToolsListResult20260728 = CacheableResult20260728 & {
  /**
   * The tools, in an order that stays.
   */
  tools: Tool20260728[]
  /**
   * There are more tools: ask again with this as `cursor`. If it is missing, this was the last page.
   */
  nextCursor?: string
}
/**
 * The answer to `tools/call`.
 */
export type ToolsCallResponse20260728 = JSONRPCResponse & {
  result: ToolsCallResult20260728
}
/**
 * The answer to `tools/call` since 2026-07-28: what the tool answers, or what it wants to know from the user first.
 */
export type ToolsCallResult20260728 = CompleteToolsCallResult20260728 | InputRequiredResult
/**
 * What the tool answers, whether it succeeded or failed.
 */
export type CompleteToolsCallResult20260728 = CompleteResult20260728 & {
  /**
   * What it answers, for models and people. Structured content is here once more, as JSON text.
   */
  content: ContentBlock[]
  /**
   * What it answers, for programs, as its `outputSchema` promises: any JSON value. Not there if it failed.
   */
  structuredContent?: unknown
  /**
   * It failed, and the content says why.
   */
  isError?: boolean
}
/**
 * A notification: `notifications/subscriptions/acknowledged`.
 */
export type NotificationsSubscriptionsAcknowledgedNotification = JSONRPCNotification & {
  method: 'notifications/subscriptions/acknowledged'
  params: NotificationsSubscriptionsAcknowledgedParams
}
/**
 * A notification: `notifications/tools/list_changed`.
 */
export type NotificationsToolsListChangedNotification20260728 = JSONRPCNotification & {
  method: 'notifications/tools/list_changed'
  params: NotificationsToolsListChangedParams20260728
}
/**
 * The answer to `subscriptions/listen`.
 */
export type SubscriptionsListenResponse = JSONRPCResponse & {
  result: SubscriptionsListenResult
}
/**
 * The answer to `subscriptions/listen`, when the server ends: there will be no more news.
 */
export type SubscriptionsListenResult = CompleteResult20260728 & {
  _meta: SubscriptionMeta
}
/**
 * Any message between a program and a tool server that speak JSON-RPC 2.0 and no more: no handshake, and the methods of MCP as they were until 2025-11-25. Editors, scripts and hosts that know nothing of MCP talk to Toolwire like this.
 */
export type PlainJSONRPCMessage = ClientMessagePlain | ServerMessagePlain | ClientBatchPlain | ServerBatchPlain
/**
 * What a client sends.
 */
export type ClientMessagePlain =
  PingRequest | ToolsListRequest | ToolsCallRequest | NotificationsCancelledNotification | CancelRequestNotification
/**
 * A notification: `$/cancelRequest`.
 */
export type CancelRequestNotification = JSONRPCNotification & {
  method: '$/cancelRequest'
  params: CancelRequestParams
}
/**
 * What a server sends.
 */
export type ServerMessagePlain =
  PingResponse | ToolsListResponse | ToolsCallResponse | NotificationsProgressNotification | JSONRPCErrorResponse
/**
 * Several messages in one array; the server answers with one array.
 *
 * @minItems 1
 */
export type ClientBatchPlain = ClientMessagePlain[]
/**
 * The answers to a batch.
 *
 * @minItems 1
 */
export type ServerBatchPlain = ServerMessagePlain[]
/**
 * A function as OpenAI's APIs, and the many that imitate them, want it described.
 */
export type OpenAIFunction = OpenAIChatFunction | OpenAIResponseFunction
/**
 * A function for the Responses API, which makes one strict that does not say.
 */
export type OpenAIResponseFunction = OpenAIFunctionDefinition & {
  type: 'function'
  /**
   * Calls are to fit the parameters exactly. Then every property is required, and there are no others.
   */
  strict: boolean
}
/**
 * What the structured exchange tells a model: what the user wants, what an action came to, what the user answered, what went wrong. It is sent as JSON text.
 */
export type ReActMessage = ReActQuestion | ReActActionResult | ReActUserResponse | ReActError
/**
 * What a model replies in the structured exchange: it asks the user, has one tool called, or answers. One such object is all of a reply. A model that can be held to a schema is given one for its tools, with a branch for the parameters of each (`toolwire schema reply`); in the form for OpenAI's strict mode the reply is the member `reply` of an object.
 */
export type ReActReply = ReActAsk | ReActAction | ReActFinalAnswer
/**
 * A parameter of a mapping.
 */
export type ToolLibraryParameter = ToolLibraryParameterWords
/**
 * A parameter of a list.
 */
export type ToolLibraryNamedParameter = ToolLibraryParameterWords & {
  /**
   * What it is called.
   */
  name: string
}
/**
 * One line of an agent's transcript, and of what `toolwire ask --json` prints: something that happened. The events from outside (questions, replies, results, what persons said) are all that is needed to bring a run to where it was; the others tell what followed.
 */
export type TranscriptEvent =
  | StartedEvent
  | ResumedEvent
  | ToolsListedEvent
  | QuestionAskedEvent
  | ModelAskedEvent
  | ModelRepliedEvent
  | ModelFailedEvent
  | ReplyRefusedEvent
  | ActionChosenEvent
  | ApprovalAskedEvent
  | ApprovedEvent
  | RefusedEvent
  | CallStartedEvent
  | ToolAskedEvent
  | FormAnsweredEvent
  | CallFinishedEvent
  | UserAskedEvent
  | UserAnsweredEvent
  | FinalForcedEvent
  | EndedEvent

/**
 * A tool as Anthropic's API wants it described.
 */
export interface AnthropicTool {
  /**
   * It is a tool of the user's own; the same without it.
   */
  type?: 'custom'
  /**
   * What it is called by.
   */
  name: string
  /**
   * What it is for.
   */
  description?: string
  /**
   * What it is given.
   */
  input_schema: SchemaOfObject
}
/**
 * The words of draft 2020-12. Words that nobody knows are allowed.
 */
export interface JSONSchemaKeywords {
  /**
   * The dialect.
   */
  $schema?: 'https://json-schema.org/draft/2020-12/schema'
  /**
   * What it is called by, wherever it is.
   */
  $id?: string
  /**
   * The schema that counts as well.
   */
  $ref?: string
  /**
   * What it is called by in its document.
   */
  $anchor?: string
  /**
   * The schema that counts as well, to be found when a value is judged.
   */
  $dynamicRef?: string
  /**
   * What it is called by there.
   */
  $dynamicAnchor?: string
  /**
   * The vocabularies of a dialect.
   */
  $vocabulary?: {
    [k: string]: boolean
  }
  /**
   * For whoever maintains it.
   */
  $comment?: string
  /**
   * Schemas to refer to.
   */
  $defs?: {
    [k: string]: JSONSchema
  }
  /**
   * The type of a value, or its types.
   */
  type?:
    | ('array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string')
    | ('array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string')[]
  /**
   * The values there are.
   */
  enum?: unknown[]
  /**
   * The one value there is.
   */
  const?: unknown
  /**
   * A name for people.
   */
  title?: string
  /**
   * What a value means.
   */
  description?: string
  /**
   * What it is where nothing is said.
   */
  default?: unknown
  /**
   * Some values.
   */
  examples?: unknown[]
  /**
   * It should not be used any more.
   */
  deprecated?: boolean
  /**
   * Only its owner changes it.
   */
  readOnly?: boolean
  /**
   * It is never told.
   */
  writeOnly?: boolean
  /**
   * A number is a multiple of this.
   */
  multipleOf?: number
  /**
   * A number is at most this.
   */
  maximum?: number
  /**
   * A number is less than this.
   */
  exclusiveMaximum?: number
  /**
   * A number is at least this.
   */
  minimum?: number
  /**
   * A number is more than this.
   */
  exclusiveMinimum?: number
  /**
   * A text has at most so many characters.
   */
  maxLength?: number
  /**
   * A text has at least so many characters.
   */
  minLength?: number
  /**
   * A regular expression that is found in a text.
   */
  pattern?: string
  /**
   * What a text is written like, such as `date-time`.
   */
  format?: string
  /**
   * How bytes are written as text, such as `base64`.
   */
  contentEncoding?: string
  /**
   * The media type of a text.
   */
  contentMediaType?: string
  /**
   * What a text holds, once it is decoded.
   */
  contentSchema?: JSONSchema
  /**
   * Every item, or every one behind the `prefixItems`.
   */
  items?: JSONSchema
  /**
   * The first items, each by itself.
   *
   * @minItems 1
   */
  prefixItems?: JSONSchema[]
  /**
   * An item that there is.
   */
  contains?: JSONSchema
  /**
   * There are at most so many items.
   */
  maxItems?: number
  /**
   * There are at least so many items.
   */
  minItems?: number
  /**
   * No two items are equal.
   */
  uniqueItems?: boolean
  /**
   * At most so many items are as `contains` says.
   */
  maxContains?: number
  /**
   * At least so many items are as `contains` says.
   */
  minContains?: number
  /**
   * Every item of which nothing is said.
   */
  unevaluatedItems?: JSONSchema
  /**
   * The members, by name.
   */
  properties?: {
    [k: string]: JSONSchema
  }
  /**
   * The members whose names a regular expression is found in.
   */
  patternProperties?: {
    [k: string]: JSONSchema
  }
  /**
   * All other members.
   */
  additionalProperties?: JSONSchema
  /**
   * The names of all members.
   */
  propertyNames?: JSONSchema
  /**
   * Every member of which nothing is said.
   */
  unevaluatedProperties?: JSONSchema
  /**
   * The members that there have to be.
   */
  required?: string[]
  /**
   * The members that there have to be beside one.
   */
  dependentRequired?: {
    [k: string]: string[]
  }
  /**
   * What the whole is if there is a member.
   */
  dependentSchemas?: {
    [k: string]: JSONSchema
  }
  /**
   * There are at most so many members.
   */
  maxProperties?: number
  /**
   * There are at least so many members.
   */
  minProperties?: number
  /**
   * All of these.
   *
   * @minItems 1
   */
  allOf?: JSONSchema[]
  /**
   * At least one of these.
   *
   * @minItems 1
   */
  anyOf?: JSONSchema[]
  /**
   * Exactly one of these.
   *
   * @minItems 1
   */
  oneOf?: JSONSchema[]
  /**
   * Not this.
   */
  not?: JSONSchema
  /**
   * If this,
   */
  if?: JSONSchema
  /**
   * then this,
   */
  then?: JSONSchema
  /**
   * or else this.
   */
  else?: JSONSchema
  /**
   * What `$defs` was called.
   */
  definitions?: {
    [k: string]: JSONSchema
  }
  /**
   * What `dependentSchemas` and `dependentRequired` were called.
   */
  dependencies?: {
    [k: string]: JSONSchema | string[]
  }
  /**
   * What `$dynamicAnchor` was.
   */
  $recursiveAnchor?: string
  /**
   * What `$dynamicRef` was.
   */
  $recursiveRef?: string
  [k: string]: unknown
}
/**
 * A JSON Schema that is not looked into.
 */
export interface JSONSchemaOfAnotherDialect {
  /**
   * The dialect, which is another one.
   */
  $schema: string
  [k: string]: unknown
}
/**
 * The params of `$/cancelRequest`, by which editors cancel (Language Server Protocol): the request is answered by the error -32800.
 */
export interface CancelRequestParams {
  /**
   * The id of the request.
   */
  id: JSONRPCId
}
/**
 * The params of `notifications/cancelled`: whoever asked does not want the answer any more, and gets none.
 */
export interface NotificationsCancelledParams {
  /**
   * The id of the request.
   */
  requestId: JSONRPCId
  /**
   * Why, for a log.
   */
  reason?: string
  _meta?: Meta
}
/**
 * What a message or a part of it says to programs that know of it (`_meta`). Names have a prefix such as `example.com/`; those that begin with `io.modelcontextprotocol/` belong to MCP. Models do not see it.
 */
export interface Meta {
  [k: string]: unknown
}
/**
 * What a client can do for a server. A member that is missing is something it cannot do. There are more than a tool server asks for.
 */
export interface ClientCapabilities {
  /**
   * It can ask its user; an empty object means by a form. Since 2025-06-18.
   */
  elicitation?: {
    /**
     * It can show a form. Since 2025-11-25.
     */
    form?: {
      [k: string]: unknown
    }
    /**
     * It can send the user to a page of the web. Since 2025-11-25.
     */
    url?: {
      [k: string]: unknown
    }
  }
  [k: string]: unknown
}
/**
 * For whom a part of an answer is, and how much it matters.
 */
export interface ContentAnnotations {
  /**
   * Who is to see it: the user, the model (`assistant`), or both.
   */
  audience?: ('user' | 'assistant')[]
  /**
   * From 0, may be left out, to 1, must be seen.
   */
  priority?: number
  /**
   * When what it holds was changed, with date, time and offset. Since 2025-06-18.
   */
  lastModified?: string
}
/**
 * Text for the model or the user.
 */
export interface TextContent {
  type: 'text'
  /**
   * The text.
   */
  text: string
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * A picture.
 */
export interface ImageContent {
  type: 'image'
  /**
   * Its bytes, in base64 with the standard alphabet.
   */
  data: string
  /**
   * Its media type, such as image/png.
   */
  mimeType: string
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * A sound. Since 2025-03-26.
 */
export interface AudioContent {
  type: 'audio'
  /**
   * Its bytes, in base64 with the standard alphabet.
   */
  data: string
  /**
   * Its media type, such as audio/wav.
   */
  mimeType: string
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * A file, with what is in it.
 */
export interface EmbeddedResource {
  type: 'resource'
  /**
   * The file.
   */
  resource: TextResource | BinaryResource
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * A file of text.
 */
export interface TextResource {
  /**
   * What it is called by.
   */
  uri: string
  /**
   * Its media type.
   */
  mimeType?: string
  /**
   * What is in it.
   */
  text: string
  _meta?: Meta
}
/**
 * A file of bytes.
 */
export interface BinaryResource {
  /**
   * What it is called by.
   */
  uri: string
  /**
   * Its media type.
   */
  mimeType?: string
  /**
   * What is in it, in base64 with the standard alphabet.
   */
  blob: string
  _meta?: Meta
}
/**
 * A link to something that the host may fetch by itself. Since 2025-06-18.
 */
export interface ResourceLink {
  type: 'resource_link'
  /**
   * Where it is.
   */
  uri: string
  /**
   * What it is called.
   */
  name: string
  /**
   * The name to show people.
   */
  title?: string
  /**
   * What it is.
   */
  description?: string
  /**
   * Its media type.
   */
  mimeType?: string
  /**
   * Its size in bytes.
   */
  size?: number
  /**
   * Pictures of it, to choose from.
   */
  icons?: Icon[]
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * A picture that hosts show beside a name. Since 2025-11-25.
 */
export interface Icon {
  /**
   * Where it is: an https: or http: address, or a data: URI.
   */
  src: string
  /**
   * Its media type, where the source does not say the right one.
   */
  mimeType?: string
  /**
   * The sizes it is good for, such as `48x48`, or `any` for what scales.
   */
  sizes?: string[]
  /**
   * The background it was drawn for; without it, any.
   */
  theme?: 'light' | 'dark'
}
/**
 * The file behind `toolwire check --baseline`: what a server is known not to do, and why.
 */
export interface ContractBaseline {
  /**
   * The gaps.
   */
  gaps: ContractGap[]
}
/**
 * One gap.
 */
export interface ContractGap {
  /**
   * The id of a case, or a pattern: `malformed/*`.
   */
  case: string
  /**
   * Why it is known and lasts.
   */
  reason: string
  /**
   * Only in this revision; in any if this is missing.
   */
  revision?: string
  /**
   * Only in this framing; in any if this is missing.
   */
  framing?: string
}
/**
 * One behaviour of a tool server, and the steps that show whether a server has it. The README beside the cases says how they are played.
 */
export interface ContractCase {
  /**
   * Its name: an area, and what it is about.
   */
  id: string
  /**
   * What the server does, in a sentence.
   */
  behaviour: string
  /**
   * Where that is written.
   */
  source: string
  /**
   * Whether the source is only related, and Toolwire demands more. If this is missing, it is not so.
   */
  ours?: boolean
  severity: ContractSeverity
  /**
   * In which era of MCP it is played: the newest that the server speaks (`any`, if this is missing), `each` of them, only the one with a handshake (`legacy`), only the one since 2026-07-28 (`modern`), or without a word of MCP (`plain`).
   */
  era?: 'any' | 'each' | 'legacy' | 'modern' | 'plain'
  /**
   * The revisions of MCP in which it is played, each of them; `era` says nothing then.
   *
   * @minItems 1
   */
  revisions?: ('2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28')[]
  /**
   * The framings in which it is played; both if this is missing.
   *
   * @minItems 1
   */
  framings?: ('lines' | 'headers')[]
  /**
   * Where: in a conversation that other cases use too (`shared`, if this is missing), in one of its own that has begun as its revision wants (`opened`) or in which nothing was said (`fresh`), or, last of all, over everything that was said in the other cases (`run`: expectations alone).
   */
  process?: 'shared' | 'opened' | 'fresh' | 'run'
  /**
   * The values that its messages use, or what else has to be known of the server; without them it is not applicable. The README lists them.
   */
  needs?: string[]
  /**
   * The steps, in order. The first expectation that is not met decides.
   *
   * @minItems 1
   */
  steps: ContractStep[]
}
/**
 * Send a message in the framing. `jsonrpc` is added, and since 2026-07-28 what every request has in its `_meta`; whatever the message has already stays. A string that is just `${name}` stands for the value of that name.
 */
export interface SendStep {
  /**
   * The message.
   */
  send: {
    [k: string]: unknown
  }
}
/**
 * Send a text as one message in the framing, whatever it is.
 */
export interface RawStep {
  raw: ContractText
}
/**
 * Bytes that are no text.
 */
export interface ContractBytes {
  /**
   * The bytes, in base64.
   */
  base64: string
}
/**
 * The same text many times.
 */
export interface ContractRepetition {
  /**
   * The text.
   */
  repeat: string
  /**
   * How many times.
   */
  times: number
}
/**
 * Write bytes as they are, without framing.
 */
export interface BytesStep {
  bytes: ContractText
}
/**
 * Take these steps several times; `${n}` is 1, then 2, and so on.
 */
export interface RepeatStep {
  /**
   * How many times.
   */
  times: number
  /**
   * The steps.
   *
   * @minItems 1
   */
  steps: ContractStep[]
}
/**
 * Ask for `tools/list`, page by page, and keep all entries under a name. Fails if a page is no list, or the pages do not end.
 */
export interface ListStep {
  /**
   * The name.
   */
  list: string
  severity?: ContractSeverity
}
/**
 * Wait until the server has nothing more to say: send a `${probe}`, wait for its answer, and once more. Fails if it is not answered: then the server does not go on. Expectations right after it do not wait.
 */
export interface SettleStep {
  /**
   * Always true.
   */
  settle: true
  severity?: ContractSeverity
}
/**
 * End the server's standard input.
 */
export interface CloseStep {
  /**
   * What is closed.
   */
  close: 'stdin'
}
/**
 * Send a signal to the process that was started.
 */
export interface SignalStep {
  /**
   * Which.
   */
  signal: 'SIGTERM'
}
/**
 * There is an answer to this request, and it is one of those that are described; any, if none is. Its id is the same value of the same JSON type.
 */
export interface AnswerExpectation {
  /**
   * The id of the request, or `${n}`; null for an error that says no id.
   */
  answer: string | number | null
  /**
   * It may be a result that fits this JSON Schema.
   */
  result?:
    | {
        [k: string]: unknown
      }
    | boolean
  /**
   * It may be a result with `isError` and content that says why.
   */
  tool_error?: true
  /**
   * With one of these codes, or with any.
   */
  error?: number[] | true
  /**
   * The `data` of that error fits this JSON Schema.
   */
  data?:
    | {
        [k: string]: unknown
      }
    | boolean
  severity?: ContractSeverity
}
/**
 * There is a JSON-RPC error, whoever it is addressed to: servers cannot always read the id of what they refuse.
 */
export interface RefusalExpectation {
  /**
   * With one of these codes, or with any.
   */
  refused: number[] | true
  severity?: ContractSeverity
}
/**
 * Up to now there is no answer to this request.
 */
export interface SilenceExpectation {
  /**
   * The id of the request.
   */
  unanswered: string | number
  severity?: ContractSeverity
}
/**
 * These requests have been answered once each, in this order.
 */
export interface OrderExpectation {
  /**
   * The ids of the requests.
   *
   * @minItems 2
   */
  order: (string | number)[]
  severity?: ContractSeverity
}
/**
 * Some message fits: an object, or the list that answers a batch.
 */
export interface SomeExpectation {
  /**
   * A JSON Schema.
   */
  some:
    | {
        [k: string]: unknown
      }
    | boolean
  severity?: ContractSeverity
}
/**
 * Up to now no message fits; of a batch, no member.
 */
export interface NoneExpectation {
  /**
   * A JSON Schema.
   */
  none:
    | {
        [k: string]: unknown
      }
    | boolean
  severity?: ContractSeverity
}
/**
 * Up to now every message fits; of a batch, every member.
 */
export interface EveryExpectation {
  /**
   * A JSON Schema.
   */
  every:
    | {
        [k: string]: unknown
      }
    | boolean
  /**
   * Only messages that fit this JSON Schema are looked at.
   */
  among?:
    | {
        [k: string]: unknown
      }
    | boolean
  severity?: ContractSeverity
}
/**
 * Up to now there is nothing but messages on standard output. Blank lines are let pass.
 */
export interface QuietExpectation {
  /**
   * Always true.
   */
  quiet: true
  severity?: ContractSeverity
}
/**
 * What JSON Schema cannot say: `answered-once`, `answers-asked`, `progress-asked`, `progress-increases`, `progress-before-answer`, `output-schema`; of lists of tools `unique-names`, `same-list` (two lists), `portable`, `portable-everywhere`.
 */
export interface RuleExpectation {
  /**
   * The name of the rule.
   */
  rule: string
  /**
   * The names of the lists that it is about.
   */
  lists?: string[]
  severity?: ContractSeverity
}
/**
 * The process ends by itself.
 */
export interface ExitExpectation {
  exit: ContractExit
  severity?: ContractSeverity
}
/**
 * How.
 */
export interface ContractExit {
  /**
   * After so long at most.
   */
  within_seconds: number
  /**
   * With one of these statuses; with any if this is missing.
   */
  status?: number[]
}
/**
 * Of what the server started nothing is running any more, two seconds later at most.
 */
export interface OrphansExpectation {
  /**
   * Always `none`.
   */
  orphans: 'none'
  severity?: ContractSeverity
}
/**
 * What `toolwire check --json` prints: the verdicts on one server.
 */
export interface ContractReport {
  /**
   * How the server was started.
   */
  command: string[]
  /**
   * Its name and version, as it says.
   */
  server: string
  /**
   * The newest revision of each era that it speaks.
   */
  revisions: string[]
  /**
   * The framings in which it was spoken to.
   */
  framings: ('lines' | 'headers')[]
  /**
   * How many tools it has.
   */
  tools: number
  /**
   * How long all of it took.
   */
  seconds: number
  counts: ContractCounts
  /**
   * One for each case, revision and framing.
   */
  verdicts: ContractVerdict[]
  /**
   * What it is made with, if that is recognized.
   */
  sdk?: string
  /**
   * The gaps in the baseline that are there no more.
   */
  outdated: string[]
  /**
   * What the generated arguments came from, if any were.
   */
  seed?: number
}
/**
 * How many verdicts there are of each outcome.
 */
export interface ContractCounts {
  /**
   * It does as expected.
   */
  pass: number
  /**
   * It does not, and must.
   */
  fail: number
  /**
   * It does not, and should.
   */
  warn: number
  /**
   * It does not, as the baseline says, or what is known of its SDK.
   */
  'known gap': number
  /**
   * The case cannot be played with it.
   */
  'not applicable': number
}
/**
 * What came of one case in one revision and framing.
 */
export interface ContractVerdict {
  /**
   * The id of the case.
   */
  case: string
  /**
   * What the server should do, in a sentence.
   */
  behaviour: string
  /**
   * Where that is written.
   */
  source: string
  severity: ContractSeverity
  /**
   * `warn` is a failure whose severity is not `must`; a `known gap` is in the baseline, or comes from the SDK.
   */
  outcome: 'pass' | 'fail' | 'warn' | 'known gap' | 'not applicable'
  /**
   * The revision of MCP. Missing where none was spoken.
   */
  revision?: string
  /**
   * `lines` or `headers`.
   */
  framing?: string
  /**
   * Why it is not applicable, or why the gap is known.
   */
  reason?: string
  /**
   * What was expected and did not come.
   */
  expected?: string
  /**
   * What came instead.
   */
  came?: string
  /**
   * What was sent (`-> `), what came (`<- `) and what happened (`-- `), so that it can be seen again.
   */
  exchange?: string[]
  /**
   * The SDK that a known gap comes from.
   */
  sdk?: string
  /**
   * Whether the source is only related, and Toolwire demands more.
   */
  ours?: boolean
  /**
   * The cases that were played before it in the same process, if it fails only after these.
   */
  after?: string[]
  /**
   * How long it took.
   */
  seconds?: number
}
/**
 * The params of `elicitation/create`: a tool asks the user, by way of the client. Since 2025-06-18; a request of the server until 2025-11-25, a part of `input_required` since 2026-07-28.
 */
export interface ElicitationCreateParams {
  /**
   * The question is a form. Told since 2025-11-25; without it, it is one as well.
   */
  mode?: 'form'
  /**
   * The question.
   */
  message: string
  requestedSchema: ElicitationForm
  _meta?: Meta
}
/**
 * What is asked for: an object of plain fields, in a part of JSON Schema.
 */
export interface ElicitationForm {
  /**
   * The dialect, if it is said.
   */
  $schema?: string
  type: 'object'
  /**
   * The fields, by name.
   */
  properties: {
    [k: string]: ElicitationField
  }
  /**
   * The fields that have to be filled in.
   */
  required?: string[]
}
/**
 * Text, or one of several choices.
 */
export interface ElicitationTextField {
  type: 'string'
  /**
   * The name to show.
   */
  title?: string
  /**
   * What is asked for.
   */
  description?: string
  minLength?: number
  maxLength?: number
  format?: 'email' | 'uri' | 'date' | 'date-time'
  /**
   * The choices.
   */
  enum?: string[]
  /**
   * The names to show for them. Until 2025-06-18.
   */
  enumNames?: string[]
  /**
   * The choices, with a name to show for each. Since 2025-11-25.
   */
  oneOf?: ElicitationChoice[]
  default?: string
}
/**
 * A choice and the name to show for it.
 */
export interface ElicitationChoice {
  const: string
  title: string
}
/**
 * A number, or a whole one.
 */
export interface ElicitationNumberField {
  type: 'number' | 'integer'
  /**
   * The name to show.
   */
  title?: string
  /**
   * What is asked for.
   */
  description?: string
  minimum?: number
  maximum?: number
  default?: number
}
/**
 * Yes or no.
 */
export interface ElicitationYesOrNoField {
  type: 'boolean'
  /**
   * The name to show.
   */
  title?: string
  /**
   * What is asked for.
   */
  description?: string
  default?: boolean
}
/**
 * Several of the choices. Since 2025-11-25.
 */
export interface ElicitationChoicesField {
  type: 'array'
  /**
   * The name to show.
   */
  title?: string
  /**
   * What is asked for.
   */
  description?: string
  /**
   * The choices.
   */
  items:
    | {
        type: 'string'
        enum: string[]
      }
    | {
        /**
         * The choices, with a name to show for each. Since 2025-11-25.
         */
        anyOf: ElicitationChoice[]
      }
  minItems?: number
  maxItems?: number
  default?: string[]
}
/**
 * The user's answer to `elicitation/create`.
 */
export interface ElicitationCreateResult {
  /**
   * What the user did: answered, said no, or closed the form without an answer.
   */
  action: 'accept' | 'decline' | 'cancel'
  /**
   * The fields that were filled in; there if the user answered.
   */
  content?: {
    [k: string]: string | number | boolean | string[]
  }
  _meta?: Meta
}
/**
 * A program that speaks MCP: what it is called, and which version of it this is.
 */
export interface Implementation {
  /**
   * Its name, for programs.
   */
  name: string
  /**
   * The name to show people. Since 2025-06-18.
   */
  title?: string
  /**
   * Its version.
   */
  version: string
  /**
   * What it is. Since 2025-11-25.
   */
  description?: string
  /**
   * Where to read about it. Since 2025-11-25.
   */
  websiteUrl?: string
  /**
   * Pictures of it, to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
}
/**
 * The params of `initialize`, the first request of a client of the revisions 2024-11-05 to 2025-11-25.
 */
export interface InitializeParams {
  /**
   * The newest revision that the client speaks, such as 2025-11-25.
   */
  protocolVersion: string
  capabilities: ClientCapabilities
  clientInfo: Implementation
  _meta?: RequestMeta
}
/**
 * What a request says about itself (`_meta`).
 */
export interface RequestMeta {
  /**
   * Asks to be told how far the call is, and is what those notifications carry.
   */
  progressToken?: JSONRPCId
  [k: string]: unknown
}
/**
 * The answer to `initialize`: the revision that both will speak, and what the server has.
 */
export interface InitializeResult {
  /**
   * The client's revision if the server speaks it, or else the newest with a handshake that the server does.
   */
  protocolVersion: '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25'
  capabilities: ServerCapabilities
  serverInfo: Implementation
  /**
   * How to use the tools, for the model.
   */
  instructions?: string
  _meta?: Meta
}
/**
 * What a server has. A tool server has tools.
 */
export interface ServerCapabilities {
  /**
   * It has tools.
   */
  tools?: {
    /**
     * It tells when the list of its tools changes.
     */
    listChanged?: boolean
  }
  [k: string]: unknown
}
/**
 * What every result of 2026-07-28 has.
 */
export interface Result20260728 {
  /**
   * Whether this is all (`complete`), or the client has to ask its user and call again (`input_required`).
   */
  resultType: string
  _meta?: Meta & {
    'io.modelcontextprotocol/serverInfo'?: Implementation
  }
}
/**
 * One question.
 */
export interface InputRequest {
  method: 'elicitation/create'
  params: ElicitationCreateParams
}
/**
 * A request: it is answered exactly once, by a response or an error with its id. There are no other members: some programs drop a message that has more, and whoever asked waits for ever.
 */
export interface JSONRPCRequest {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  id: JSONRPCId
  /**
   * What is asked for, such as `tools/call`. Names that begin with `rpc.` are JSON-RPC's own.
   */
  method: string
  /**
   * What the method is given: by name, as every method of a tool server wants it, or by position.
   */
  params?:
    | {
        [k: string]: unknown
      }
    | unknown[]
}
/**
 * A notification: a message without an id, which is never answered, not even by an error.
 */
export interface JSONRPCNotification {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  /**
   * What is asked for, such as `tools/call`. Names that begin with `rpc.` are JSON-RPC's own.
   */
  method: string
  /**
   * What the method is given: by name, as every method of a tool server wants it, or by position.
   */
  params?:
    | {
        [k: string]: unknown
      }
    | unknown[]
}
/**
 * The answer to a request that succeeded. A call whose tool failed is one as well: its result says so (`isError`).
 */
export interface JSONRPCResponse {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  id: JSONRPCId
  /**
   * What the method gives. In MCP that is an object, always.
   */
  result: {
    [k: string]: unknown
  }
}
/**
 * The answer to a request that could not be served: unreadable, malformed, of an unknown method or tool, or refused. (A tool that ran and failed, and arguments that it does not take, are no such errors but results with `isError`.)
 */
export interface JSONRPCErrorResponse {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  /**
   * The id of the request, or null if it could not be read.
   */
  id: JSONRPCId | null
  error: JSONRPCError
}
/**
 * What went wrong.
 */
export interface JSONRPCError {
  /**
   * Which kind of error it is. JSON-RPC 2.0: -32700 (no JSON), -32600 (no request), -32601 (no such method), -32602 (params that do not fit, unknown tools), -32603 (a fault of the server). LSP: -32800 (ended by `$/cancelRequest`). MCP 2026-07-28: -32021 (the client lacks a capability), -32022 (unknown protocol version). Toolwire's own: -31001 (too much under way; try again later), -31002 (the server is shutting down).
   */
  code: number
  /**
   * One sentence for people.
   */
  message: string
  /**
   * More about it, of any kind; for -32022 the versions.
   */
  data?: unknown
}
/**
 * The data of the error -32022: which revisions of MCP are spoken instead.
 */
export interface UnsupportedProtocolVersion {
  /**
   * The revisions that the server speaks.
   */
  supported: string[]
  /**
   * The revision that was asked for.
   */
  requested: string
}
/**
 * The description of a simple tool that Lagent and Groot show to a model. Behind the members of a parameter there may be others in the words of JSON Schema, where a type cannot say what is wanted.
 */
export interface LagentTool {
  /**
   * What it is called by.
   */
  name: string
  /**
   * What it is for; empty if its author says nothing.
   */
  description: string
  /**
   * What it is given.
   */
  parameters: LagentParameter[]
  /**
   * The parameters that have to be given.
   */
  required: string[]
  /**
   * What it gives, if its author says so.
   */
  return_data?: LagentReturnedValue[]
  /**
   * How arguments are to be passed, which a parser adds.
   */
  parameter_description?: string
  /**
   * Schemas that parameters refer to.
   */
  $defs?: {
    [k: string]: JSONSchema
  }
}
/**
 * A parameter. Of a tool described by its docstring as a whole (`explode_param=False`), only the name.
 */
export interface LagentParameter {
  /**
   * What it is called.
   */
  name: string
  /**
   * Its type, or several. Lagent's words are STRING, NUMBER (a whole number), FLOAT, BOOLEAN and Array. Toolwire writes OBJECT and ANY where those have none, and reads them all, and JSON Schema's, in any case.
   */
  type?: string | string[]
  /**
   * What it is; empty if nothing is said.
   */
  description?: string
  [k: string]: unknown
}
/**
 * A part of what a tool gives.
 */
export interface LagentReturnedValue {
  /**
   * What it is called, if it has a name.
   */
  name?: string
  /**
   * Its type, or several. Lagent's words are STRING, NUMBER (a whole number), FLOAT, BOOLEAN and Array. Toolwire writes OBJECT and ANY where those have none, and reads them all, and JSON Schema's, in any case.
   */
  type?: string | string[]
  /**
   * What it is.
   */
  description: string
}
/**
 * The description of a tool with several APIs. A model calls one as `Toolkit.api`.
 */
export interface LagentToolkit {
  /**
   * What it is called by.
   */
  name: string
  /**
   * What it is for; empty if its author says nothing.
   */
  description: string
  /**
   * Its APIs.
   */
  api_list: LagentTool[]
}
/**
 * The params of `notifications/tools/list_changed` since 2026-07-28: the list of tools has changed.
 */
export interface NotificationsToolsListChangedParams20260728 {
  _meta: SubscriptionMeta
}
/**
 * Says to which `subscriptions/listen` a message belongs (`_meta`).
 */
export interface SubscriptionMeta {
  /**
   * The id of that request.
   */
  'io.modelcontextprotocol/subscriptionId': JSONRPCId
  [k: string]: unknown
}
/**
 * The file in which a host keeps how its tool servers are started: Claude Desktop, Claude Code, Cursor and others (`mcpServers`), VS Code (`servers`). There may be more in it than servers.
 */
export interface McpServersFile {
  mcpServers?: ServerTable
  servers?: ServerTable
  /**
   * What VS Code asks for before it starts a server.
   */
  inputs?: VSCodeInput[]
}
/**
 * The servers, by the names that the host gives them.
 */
export interface ServerTable {
  [k: string]: StartedServer | RemoteServer
}
/**
 * A server that the host starts, and talks to by its standard input and output. In all texts, what stands in `${}` is put in: `${NAME}` and `${NAME:-default}`, `${env:NAME}`, `${input:ID}`, `${userHome}`, `${workspaceFolder}`.
 */
export interface StartedServer {
  /**
   * It is started. VS Code wants to see it.
   */
  type?: 'stdio'
  /**
   * The program.
   */
  command: string
  /**
   * Its arguments.
   */
  args?: string[]
  /**
   * Variables of its environment, beside the usual ones; null takes one away.
   */
  env?: {
    [k: string]: string | null
  }
  /**
   * A file of such variables, a `NAME=value` in each line.
   */
  envFile?: string
  /**
   * The folder it runs in.
   */
  cwd?: string
  /**
   * It is not started.
   */
  disabled?: boolean
  /**
   * It is started; by default it is.
   */
  enabled?: boolean
}
/**
 * A server that is reached over the network, which Toolwire's client passes over.
 */
export interface RemoteServer {
  /**
   * Where it is.
   */
  url: string
  /**
   * How it is spoken to.
   */
  type?: 'http' | 'sse' | 'streamable-http'
  /**
   * What is sent along with every request.
   */
  headers?: {
    [k: string]: string
  }
}
/**
 * A value that VS Code asks for.
 */
export interface VSCodeInput {
  /**
   * What it is called by, in `${input:id}`.
   */
  id: string
  /**
   * How it is asked for, such as `promptString`.
   */
  type: string
  /**
   * What to ask.
   */
  description?: string
  /**
   * It is not to be seen.
   */
  password?: boolean
}
/**
 * The params of what takes none: `ping`, `notifications/initialized`, and `notifications/tools/list_changed` before 2026-07-28. They may be left out.
 */
export interface NoParams {
  _meta?: RequestMeta
}
/**
 * The params of `tools/list`. They may be left out.
 */
export interface ToolsListParams {
  /**
   * The `nextCursor` of the page before; without it, the first page.
   */
  cursor?: string
  _meta?: RequestMeta
}
/**
 * The params of `tools/call`.
 */
export interface ToolsCallParams {
  /**
   * The tool to call.
   */
  name: string
  /**
   * What it is given, by name, as its `inputSchema` wants it; nothing if it is missing.
   */
  arguments?: {
    [k: string]: unknown
  }
  _meta?: RequestMeta
}
/**
 * The answer to `ping`: an object without members of its own, and some clients take no other. Until 2025-11-25.
 */
export interface PingResult {
  _meta?: Meta
}
/**
 * The answer to `tools/list`: a page of the tools, or all of them.
 */
export interface ToolsListResult {
  /**
   * The tools, in an order that stays.
   */
  tools: Tool[]
  /**
   * There are more tools: ask again with this as `cursor`. If it is missing, this was the last page.
   */
  nextCursor?: string
  _meta?: Meta
}
/**
 * A tool, as an entry of `tools/list` describes it. A server sends the same to clients of all revisions; those from before a member was known pass it over.
 */
export interface Tool {
  /**
   * What it is called by, and nothing else in the list. Many models' APIs take only letters, digits, `_` and `-`, at most 64.
   */
  name: string
  /**
   * The name to show people. Since 2025-06-18.
   */
  title?: string
  /**
   * What it is for, in the words by which a model chooses it.
   */
  description?: string
  /**
   * What its arguments are: an object, since arguments have names.
   */
  inputSchema: SchemaOfObject
  /**
   * What its `structuredContent` is; if this is there, every call that succeeds has some. Since 2025-06-18.
   */
  outputSchema?: SchemaOfObject
  annotations?: ToolAnnotations
  /**
   * Pictures of it, to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
  _meta?: Meta
}
/**
 * What a tool says about its own behaviour: hints for whoever decides whether it may run, and no promise. A hint that is missing counts as its default, which is the careful one. Since 2025-03-26.
 */
export interface ToolAnnotations {
  /**
   * The name to show people, for clients from before 2025-06-18.
   */
  title?: string
  /**
   * It changes nothing.
   */
  readOnlyHint?: boolean
  /**
   * It may remove or overwrite something; says nothing if it is read-only.
   */
  destructiveHint?: boolean
  /**
   * A second call with the same arguments changes nothing more; says nothing if it is read-only.
   */
  idempotentHint?: boolean
  /**
   * It deals with a world outside, such as the web, and not with what the server holds.
   */
  openWorldHint?: boolean
}
/**
 * The answer to `tools/call`, whether the tool succeeded or failed. Arguments that the tool does not take are a failure as well, so that a model reads what was wrong and tries again.
 */
export interface ToolsCallResult {
  /**
   * What it answers, for models and people. Structured content is here once more, as JSON text.
   */
  content: ContentBlock[]
  /**
   * What it answers, for programs, as its `outputSchema` promises. Not there if it failed. Since 2025-06-18.
   */
  structuredContent?: {
    [k: string]: unknown
  }
  /**
   * It failed, and the content says why.
   */
  isError?: boolean
  _meta?: Meta
}
/**
 * The params of `notifications/progress`: how far a call is, told to whoever sent a `progressToken` with it. Nothing more of it comes once the call is answered.
 */
export interface NotificationsProgressParams {
  /**
   * The token of the call.
   */
  progressToken: JSONRPCId
  /**
   * How far it is: more each time.
   */
  progress: number
  /**
   * How far it will go, if that is known.
   */
  total?: number
  /**
   * What it is doing. Since 2025-03-26.
   */
  message?: string
  _meta?: Meta
}
/**
 * The params of `server/discover`, by which a client of 2026-07-28 finds out what a server is. No request has to wait for that.
 */
export interface ServerDiscoverParams {
  _meta: RequestMeta20260728
}
/**
 * What every request of 2026-07-28 says about itself (`_meta`): there is no handshake, so each says which revision it is of and what its client can do.
 */
export interface RequestMeta20260728 {
  /**
   * The revision.
   */
  'io.modelcontextprotocol/protocolVersion': '2026-07-28'
  'io.modelcontextprotocol/clientCapabilities': ClientCapabilities
  'io.modelcontextprotocol/clientInfo'?: Implementation
  /**
   * Asks for log messages of this level and above. Toolwire sends none; it writes to stderr.
   */
  'io.modelcontextprotocol/logLevel'?:
    'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'
  /**
   * Asks to be told how far the call is, and is what those notifications carry.
   */
  progressToken?: JSONRPCId
  /**
   * W3C Trace Context.
   */
  traceparent?: string
  /**
   * W3C Trace Context.
   */
  tracestate?: string
  /**
   * W3C Baggage.
   */
  baggage?: string
  [k: string]: unknown
}
/**
 * The params of `tools/list` since 2026-07-28.
 */
export interface ToolsListParams20260728 {
  /**
   * The `nextCursor` of the page before; without it, the first page.
   */
  cursor?: string
  _meta: RequestMeta20260728
}
/**
 * The params of `subscriptions/listen`, by which a client of 2026-07-28 asks to be told of changes. The request stays open until it is cancelled or the server ends.
 */
export interface SubscriptionsListenParams {
  notifications: Subscriptions
  _meta: RequestMeta20260728
}
/**
 * Kinds of news. There are more than a tool server has.
 */
export interface Subscriptions {
  /**
   * That the list of tools has changed.
   */
  toolsListChanged?: boolean
}
/**
 * A tool, as an entry of `tools/list` describes it since 2026-07-28: its `structuredContent` may be of any type, and so may its output schema.
 */
export interface Tool20260728 {
  /**
   * What it is called by, and nothing else in the list. Many models' APIs take only letters, digits, `_` and `-`, at most 64.
   */
  name: string
  /**
   * The name to show people. Since 2025-06-18.
   */
  title?: string
  /**
   * What it is for, in the words by which a model chooses it.
   */
  description?: string
  /**
   * What its arguments are: an object, since arguments have names.
   */
  inputSchema: SchemaOfObject
  /**
   * What its `structuredContent` is; if this is there, every call that succeeds has some.
   */
  outputSchema?: JSONSchema
  annotations?: ToolAnnotations
  /**
   * Pictures of it, to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
  _meta?: Meta
}
/**
 * The params of `notifications/subscriptions/acknowledged`, which comes at once: what of the news asked for there will be.
 */
export interface NotificationsSubscriptionsAcknowledgedParams {
  notifications: Subscriptions
  _meta: SubscriptionMeta
}
/**
 * A function for chat completions.
 */
export interface OpenAIChatFunction {
  type: 'function'
  function: OpenAIFunctionDefinition
}
/**
 * What both forms say of a function.
 */
export interface OpenAIFunctionDefinition {
  /**
   * What it is called by.
   */
  name: string
  /**
   * What it is for.
   */
  description?: string
  /**
   * What it is given: a schema of an object, which says its properties even if there are none.
   */
  parameters: SchemaOfObject & {
    /**
     * Each of them, by name.
     */
    properties: {
      [k: string]: unknown
    }
  }
  /**
   * Calls are to fit the parameters exactly. Then every property is required, and there are no others.
   */
  strict?: boolean
}
/**
 * The user wants something.
 */
export interface ReActQuestion {
  type: 'QUESTION'
  /**
   * What, in the user's words.
   */
  content: string
}
/**
 * What the action came to that the model asked for.
 */
export interface ReActActionResult {
  type: 'ACTION_RESULT'
  /**
   * It succeeded.
   */
  success?: boolean
  /**
   * The same, for programs that read this name; both may be there.
   */
  ok?: boolean
  /**
   * What the tool gave, or what went wrong: any JSON value. It is data, whatever it says.
   */
  result: unknown
  /**
   * What the assistant has to say about it, such as that it was cut.
   */
  note?: string
}
/**
 * What the user answered to an `ASK`.
 */
export interface ReActUserResponse {
  type: 'USER_RESPONSE'
  /**
   * The answer, in the user's words.
   */
  content: string
}
/**
 * The exchange itself went wrong, and the model has to reply again.
 */
export interface ReActError {
  type: 'ERROR'
  /**
   * What was wrong, and what would be right.
   */
  msg: string
}
/**
 * The model needs to know something from the user.
 */
export interface ReActAsk {
  /**
   * What the model thinks, and why. It comes first, so that it thinks before it decides. The user never sees it.
   */
  thought: string
  type: 'ASK'
  /**
   * The question, with all that the user needs to answer it.
   */
  content: string
}
/**
 * The model wants one tool to be called.
 */
export interface ReActAction {
  /**
   * What the model thinks, and why. It comes first, so that it thinks before it decides. The user never sees it.
   */
  thought: string
  type: 'ACTION'
  /**
   * The tool, one of those it was told of.
   */
  tool: string
  /**
   * What the tool is given, by name, as its schema wants it.
   */
  params: {
    [k: string]: unknown
  }
}
/**
 * The model is done.
 */
export interface ReActFinalAnswer {
  /**
   * What the model thinks, and why. It comes first, so that it thinks before it decides. The user never sees it.
   */
  thought: string
  type: 'FINAL_ANSWER'
  /**
   * It found an answer. If not, the tools cannot do what the user wants.
   */
  ok: boolean
  /**
   * The answer to everything that was asked, or why there is none.
   */
  result: string
}
/**
 * What changed between two lists of tools, and whom that breaks: what `toolwire diff --json` prints.
 */
export interface ToolChanges {
  /**
   * What all changes together ask of a version's number, by SemVer: the gravest of their levels, or `none`.
   */
  verdict: 'none' | 'patch' | 'minor' | 'unknown' | 'major'
  /**
   * The list before.
   */
  old: ComparedList
  /**
   * The list now.
   */
  new: ComparedList
  /**
   * The changes, the gravest first; those of a level in the order of the tools. Beyond 100 of one tool with one level and the same concerns, further ones are only counted.
   */
  changes: ToolChange[]
}
/**
 * Where a list of tools is from, and how long it is.
 */
export interface ComparedList {
  /**
   * What was typed; `-` is standard input.
   */
  name: string
  /**
   * What that was taken for: a file with a list, something that Toolwire serves, or the command of a server.
   */
  kind: 'saved' | 'target' | 'command'
  /**
   * How many tools there are.
   */
  tools: number
}
/**
 * One change of one tool, or of the list.
 */
export interface ToolChange {
  /**
   * The tool's name; empty if it is the list that changed.
   */
  tool: string
  /**
   * Where in the tool: a path below `arguments` or `result` with `[]` for all elements and `.*` for members of any name, or a member of its description; empty if it is the whole tool.
   */
  place: string
  /**
   * What happened. `narrowed` takes, or gives, less than before, `widened` more, and `changed` is either; of `undecided` some of that is unknown. `more-changes` has the `count` of further ones.
   */
  change:
    | 'tool-added'
    | 'tool-removed'
    | 'tools-reordered'
    | 'member-added'
    | 'member-removed'
    | 'member-required'
    | 'member-optional'
    | 'narrowed'
    | 'widened'
    | 'changed'
    | 'undecided'
    | 'default-changed'
    | 'text-changed'
    | 'output-added'
    | 'output-removed'
    | 'hint-changed'
    | 'tasks-changed'
    | 'more-changes'
  /**
   * What this alone asks of a version's number: `major` breaks somebody, `unknown` may do so, `minor` and `patch` do not.
   */
  level: 'patch' | 'minor' | 'unknown' | 'major'
  /**
   * Who notices: `callers` send arguments, `readers` get results, `approval` is by the tool's hints, `models` choose tools by names and descriptions, `people` see titles and pictures.
   */
  concerns: 'callers' | 'readers' | 'approval' | 'models' | 'people'
  /**
   * The change, in words for people.
   */
  text: string
  /**
   * For callers a value that was taken at this place and is not any more; for readers one that may be given now and was not before. If a member has to be there now, or may be missing now, it is the object around it. Only where the level is `major` and there is such a value.
   */
  example?: unknown
  /**
   * Of `more-changes`: how many there are.
   */
  count?: number
}
/**
 * What a YAML file says of one tool: how a model chooses it, how it is instructed, what it takes, and what runs it. A file may hold several, parted by `---`. Where nothing says what runs it, that is the executor registered under its name.
 */
export interface ToolLibraryEntry {
  use_guide: ToolLibraryUseGuide
  use_prompt?: ToolLibraryUsePrompt
  /**
   * What it takes: a mapping of names, or a list. Without this and `input_schema` it takes one text, `instruction`.
   */
  parameters?:
    | {
        [k: string]: ToolLibraryParameter | string | null
      }
    | ToolLibraryNamedParameter[]
  /**
   * The parameters that have to be given; without it, those that have no default.
   */
  required?: string[]
  /**
   * What it takes, as a JSON Schema.
   */
  input_schema?: SchemaOfObject
  /**
   * The command line that runs it, word by word; there is no shell. `{name}` stands for an argument, `{name?}` for one that may be absent, `{name?text}` for the text if it is true or given, `{*}` for all as JSON; `{{` is a brace. A list among the words is left out if an argument in it is absent.
   *
   * @minItems 1
   */
  command?: ((string | number) | (string | number)[])[]
  /**
   * The Python function that runs it, as `module:function`.
   */
  function?: string
  /**
   * The registered executor that runs it: its name, or `module:NAME`.
   */
  executor?: string
  /**
   * What the command reads, with places.
   */
  stdin?: string | number
  /**
   * Variables of the command's environment, with places.
   */
  env?: {
    [k: string]: string | number
  }
  /**
   * The folder it runs in, relative to the file's own.
   */
  cwd?: string
  /**
   * What the command prints; JSON becomes structured content.
   */
  output?: 'text' | 'json'
  /**
   * The exit statuses that are no failure; by default 0.
   *
   * @minItems 1
   */
  success?: number[]
  /**
   * Where its output is cut: in bytes, or as in `1 MiB`.
   */
  max_output?: string | number
  /**
   * The parameters whose values may begin with `-`, where the program could take them for options.
   */
  allow_leading_dash?: string[]
  /**
   * The name to show people.
   */
  title?: string
  /**
   * It changes nothing.
   */
  read_only?: boolean
  /**
   * It may remove or overwrite something.
   */
  destructive?: boolean
  /**
   * A second call with the same arguments changes nothing more.
   */
  idempotent?: boolean
  /**
   * It deals with a world outside, such as the web.
   */
  open_world?: boolean
  /**
   * How long a call may take.
   */
  timeout_seconds?: number
  /**
   * It runs in a process of its own.
   */
  runs_in?: 'process'
  /**
   * What that process may use beyond what it begins with: in bytes, or as in `256 MiB`.
   */
  memory_limit?: string | number
  /**
   * Words to choose tools by.
   */
  tags?: string[]
  /**
   * Pictures of it, to choose from.
   */
  icons?: Icon[]
  /**
   * What its structured content is, as a JSON Schema.
   */
  output_schema?: JSONSchema & {
    [k: string]: unknown
  }
  meta?: Meta
}
/**
 * By what a model chooses the tool.
 */
export interface ToolLibraryUseGuide {
  /**
   * What it is called by: visible, and without space, `<`, `>` and `/`. It goes into a tag, in capitals or not.
   */
  tool_name: string
  /**
   * What the tool is good for, in a few words.
   */
  description: string
}
/**
 * What a model is told that writes the tool's instruction.
 */
export interface ToolLibraryUsePrompt {
  /**
   * The same name as above; capitals do not matter.
   */
  tool_name: string
  /**
   * How to instruct the tool.
   */
  tool_prompt?: string | null
  /**
   * What the instruction is to look like, best between `<TOOLNAME>` and `</TOOLNAME>`.
   */
  return_format?: string | null
}
/**
 * What may be said of a parameter: the words of JSON Schema, and others of one's own that begin with `x-`.
 */
export interface ToolLibraryParameterWords {
  /**
   * Its type, in any case: string, integer, number, boolean, array, object, null; str, int, float, bool, list, dict; or any. Or several of the first seven, in a list.
   */
  type?: string | string[]
  /**
   * It has to be given; by default if it has no default.
   */
  required?: boolean
  /**
   * What a value means.
   */
  description?: string
  /**
   * A name for people.
   */
  title?: string
  /**
   * What it is where nothing is said.
   */
  default?: unknown
  /**
   * The values there are.
   */
  enum?: unknown[]
  /**
   * The one value there is.
   */
  const?: unknown
  /**
   * Some values.
   */
  examples?: unknown[]
  /**
   * It should not be used any more.
   */
  deprecated?: boolean
  /**
   * Only its owner changes it.
   */
  readOnly?: boolean
  /**
   * It is never told.
   */
  writeOnly?: boolean
  /**
   * A number is at least this.
   */
  minimum?: number
  /**
   * A number is more than this.
   */
  exclusiveMinimum?: number
  /**
   * A number is at most this.
   */
  maximum?: number
  /**
   * A number is less than this.
   */
  exclusiveMaximum?: number
  /**
   * A number is a multiple of this.
   */
  multipleOf?: number
  /**
   * A text has at least so many characters.
   */
  minLength?: number
  /**
   * A text has at most so many characters.
   */
  maxLength?: number
  /**
   * A regular expression that is found in a text.
   */
  pattern?: string
  /**
   * What a text is written like, such as `date-time`.
   */
  format?: string
  /**
   * How bytes are written as text, such as `base64`.
   */
  contentEncoding?: string
  /**
   * The media type of a text.
   */
  contentMediaType?: string
  /**
   * What a text holds, once it is decoded.
   */
  contentSchema?: JSONSchema
  /**
   * Every item, or every one behind the `prefixItems`.
   */
  items?: JSONSchema
  /**
   * The first items, each by itself.
   *
   * @minItems 1
   */
  prefixItems?: JSONSchema[]
  /**
   * An item that there is.
   */
  contains?: JSONSchema
  /**
   * There are at least so many items.
   */
  minItems?: number
  /**
   * There are at most so many items.
   */
  maxItems?: number
  /**
   * No two items are equal.
   */
  uniqueItems?: boolean
  /**
   * At least so many items are as `contains` says.
   */
  minContains?: number
  /**
   * At most so many items are as `contains` says.
   */
  maxContains?: number
  /**
   * Every item of which nothing is said.
   */
  unevaluatedItems?: JSONSchema
  /**
   * The members, by name.
   */
  properties?: {
    [k: string]: JSONSchema
  }
  /**
   * The members whose names a regular expression is found in.
   */
  patternProperties?: {
    [k: string]: JSONSchema
  }
  /**
   * All other members.
   */
  additionalProperties?: JSONSchema
  /**
   * The names of all members.
   */
  propertyNames?: JSONSchema
  /**
   * Every member of which nothing is said.
   */
  unevaluatedProperties?: JSONSchema
  /**
   * There are at least so many members.
   */
  minProperties?: number
  /**
   * There are at most so many members.
   */
  maxProperties?: number
  /**
   * The members that there have to be beside one.
   */
  dependentRequired?: {
    [k: string]: string[]
  }
  /**
   * What the whole is if there is a member.
   */
  dependentSchemas?: {
    [k: string]: JSONSchema
  }
  /**
   * All of these.
   *
   * @minItems 1
   */
  allOf?: JSONSchema[]
  /**
   * At least one of these.
   *
   * @minItems 1
   */
  anyOf?: JSONSchema[]
  /**
   * Exactly one of these.
   *
   * @minItems 1
   */
  oneOf?: JSONSchema[]
  /**
   * Not this.
   */
  not?: JSONSchema
  /**
   * If this,
   */
  if?: JSONSchema
  /**
   * then this,
   */
  then?: JSONSchema
  /**
   * or else this.
   */
  else?: JSONSchema
  /**
   * Schemas to refer to.
   */
  $defs?: {
    [k: string]: JSONSchema
  }
  /**
   * What `$defs` was called.
   */
  definitions?: {
    [k: string]: JSONSchema
  }
  /**
   * For whoever maintains it.
   */
  $comment?: string
  [k: string]: unknown
}
/**
 * An exchange begins. What follows in the file, up to the next of these, belongs to it.
 */
export interface StartedEvent {
  type: 'Started'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * The version of these events.
   */
  version?: 1
  /**
   * What the model calls itself: the name that `--model` takes, if it has one.
   */
  model?: string
  /**
   * How the model is spoken to, and in which language.
   */
  protocol?: string
}
/**
 * An exchange is taken up again, perhaps by another process.
 */
export interface ResumedEvent {
  type: 'Resumed'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
}
/**
 * The tools that the model is told of from here on.
 */
export interface ToolsListedEvent {
  type: 'ToolsListed'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * Their entries, as in `tools/list`.
   */
  tools: ToldTool[]
  /**
   * The sources that could not be asked for their tools, each with the reason.
   */
  missing?: {
    [k: string]: string
  }
  /**
   * Why tools may be called unasked, by name: `function` for a function of the agent's own process, `hints` where what the server says of its tools is trusted.
   */
  trust?: {
    [k: string]: 'function' | 'hints'
  }
}
/**
 * An entry of `tools/list`, as the server sent it, whatever it is.
 */
export interface ToldTool {
  /**
   * What the model is to call it.
   */
  name: string
}
/**
 * The user wants something.
 */
export interface QuestionAskedEvent {
  type: 'QuestionAsked'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * What the user wrote.
   */
  content: string
}
/**
 * The model is asked for a reply.
 */
export interface ModelAskedEvent {
  type: 'ModelAsked'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * How many messages of the last time are sent again, from the first on.
   */
  kept: number
  /**
   * Those that are sent behind them.
   */
  messages: ModelMessage[]
}
/**
 * A message to a model, in the shape of OpenAI's chat completions.
 */
export interface ModelMessage {
  /**
   * Whose it is: `system`, `user`, `assistant` or `tool`.
   */
  role: string
  /**
   * Its text.
   */
  content?: string | null
  /**
   * The calls that the assistant asked for, in the vendor's own way of calling tools.
   */
  tool_calls?: {
    [k: string]: unknown
  }[]
  /**
   * The call that this is the result of.
   */
  tool_call_id?: string
  /**
   * What the vendor wants to see again of its reply, unread.
   */
  echo?: {
    [k: string]: unknown
  }
}
/**
 * The model replied. What that leads to is the next event.
 */
export interface ModelRepliedEvent {
  type: 'ModelReplied'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  reply: ModelReply
}
/**
 * One reply of a model.
 */
export interface ModelReply {
  /**
   * What it wrote, without its thoughts.
   */
  text?: string
  /**
   * The calls it asked for, in the vendor's own way of calling tools.
   */
  tool_calls?: ModelToolCall[]
  /**
   * Why it stopped: `stop`, `length`, `tool_calls` or `content_filter`, or a word of the vendor's; null if it gave none.
   */
  finish_reason?: string | null
  /**
   * What it cost; null if nothing was said about it.
   */
  usage?: TokenUsage | null
  /**
   * Thoughts that came in a field of their own, or between tags.
   */
  reasoning?: string
  /**
   * What the vendor wants to see again in the next request, unread.
   */
  echo?: {
    [k: string]: unknown
  }
}
/**
 * A call in a vendor's own way of calling tools.
 */
export interface ModelToolCall {
  /**
   * What its result refers to.
   */
  id: string
  /**
   * The tool.
   */
  name: string
  /**
   * As it came: text where the wire has text, which may be no JSON.
   */
  arguments:
    | string
    | {
        [k: string]: unknown
      }
}
/**
 * Tokens of one request, or the sum of several.
 */
export interface TokenUsage {
  /**
   * All that were sent.
   */
  input_tokens?: number
  /**
   * All that were written.
   */
  output_tokens?: number
  /**
   * Those among the sent ones that the vendor had cached.
   */
  cached_tokens?: number
  /**
   * Those among the written ones that were thoughts.
   */
  reasoning_tokens?: number
}
/**
 * The model gave no reply.
 */
export interface ModelFailedEvent {
  type: 'ModelFailed'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * Why not.
   */
  reason: string
  /**
   * Nobody waited any longer.
   */
  out_of_time?: boolean
}
/**
 * The reply cannot be used, and the model is told why.
 */
export interface ReplyRefusedEvent {
  type: 'ReplyRefused'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * What the model is told.
   */
  reason: string
  /**
   * The action that cannot be done; null if none could be read.
   */
  action?: ReActAction | null
}
/**
 * The model wants a tool to be called.
 */
export interface ActionChosenEvent {
  type: 'ActionChosen'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * What the model thinks. The user is not meant to see it.
   */
  thought: string
  /**
   * The tool, by the name that the model knows.
   */
  tool: string
  /**
   * What the tool is given, by name.
   */
  params: {
    [k: string]: unknown
  }
  /**
   * What was odd about the reply, in sentences.
   */
  warnings?: string[]
}
/**
 * A person has to allow the call.
 */
export interface ApprovalAskedEvent {
  type: 'ApprovalAsked'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * The tool, by the name that the model knows.
   */
  tool: string
  /**
   * What the tool is given, by name.
   */
  params: {
    [k: string]: unknown
  }
  /**
   * Why that is necessary.
   */
  reason: string
  /**
   * It was begun before, and nobody knows how it ended: to allow it may do twice what it does.
   */
  interrupted?: boolean
}
/**
 * The call was allowed.
 */
export interface ApprovedEvent {
  type: 'Approved'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * What the person has made of the parameters; null if nothing.
   */
  params?: {
    [k: string]: unknown
  } | null
}
/**
 * The call was not allowed.
 */
export interface RefusedEvent {
  type: 'Refused'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * What the model is told about it.
   */
  reason: string
  /**
   * A person did not allow it; otherwise it was the settings.
   */
  by_user?: boolean
}
/**
 * A tool is called. From here on its effect may have happened.
 */
export interface CallStartedEvent {
  type: 'CallStarted'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * The tool, by the name that the model knows.
   */
  tool: string
  /**
   * What the tool is given, by name.
   */
  params: {
    [k: string]: unknown
  }
}
/**
 * The tool that is called wants to know something from the user.
 */
export interface ToolAskedEvent {
  type: 'ToolAsked'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * The tool, as its server calls it; null if that does not say, before MCP 2026-07-28.
   */
  tool: string | null
  /**
   * What it asks.
   */
  message: string
  /**
   * The JSON Schema of what it wants to be told: a flat object.
   */
  form: {
    [k: string]: unknown
  }
}
/**
 * What the user did about a tool's question.
 */
export interface FormAnsweredEvent {
  type: 'FormAnswered'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * Whether the user answered it, did not want to, or closed it.
   */
  action: 'accept' | 'decline' | 'cancel'
  /**
   * The answer, by the names of the form; empty if there is none.
   */
  content?: {
    [k: string]: unknown
  }
}
/**
 * What the call came to, as the model is told.
 */
export interface CallFinishedEvent {
  type: 'CallFinished'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * Whether the tool did what it was called for.
   */
  success: boolean
  /**
   * What it returned, cut if that is long; if it failed, why.
   */
  result: unknown
  /**
   * What is to be said about the result, such as that it was cut.
   */
  note?: string
}
/**
 * The model wants to know something from the user.
 */
export interface UserAskedEvent {
  type: 'UserAsked'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * What the model thinks. The user is not meant to see it.
   */
  thought: string
  /**
   * The question.
   */
  content: string
  /**
   * What was odd about the reply, in sentences.
   */
  warnings?: string[]
}
/**
 * What the user answered to the model's question.
 */
export interface UserAnsweredEvent {
  type: 'UserAnswered'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * The answer; null if nobody was there to ask.
   */
  content: string | null
}
/**
 * The model is told that its next reply is the last one.
 */
export interface FinalForcedEvent {
  type: 'FinalForced'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * Why, as the model is told.
   */
  reason: string
  /**
   * How the run ends if that reply is no answer.
   */
  status: 'turn_limit' | 'budget'
}
/**
 * The run is over.
 */
export interface EndedEvent {
  type: 'Ended'
  /**
   * When it happened, in ISO 8601 with a time zone: in UTC, and never before the event in the line above.
   */
  at?: string
  /**
   * `answered` and `unsolvable` are the model's own words. `needs_input` waits for a person and can be taken up again. With `turn_limit` and `budget` there were no replies, or not enough tokens or time, to come to an answer. With `model_error` the model gave no reply, or none that can be used. `cancelled` was ended from outside.
   */
  status: 'answered' | 'unsolvable' | 'needs_input' | 'turn_limit' | 'budget' | 'model_error' | 'cancelled'
  /**
   * The model's answer, or what it says there is none; null if it came to none.
   */
  result?: string | null
  /**
   * Why it ended so, where that needs saying.
   */
  reason?: string
  /**
   * What the model thinks. The user is not meant to see it.
   */
  thought?: string
  /**
   * How many replies the model gave since the question.
   */
  turns?: number
  usage?: TokenUsage
}
