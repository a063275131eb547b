// The types of Toolwire's published schemas, v1: what a tool server and its host say to each other, and more.
// Generated from the *.schema.json beside this file by schemas/declarations.mjs; not to be changed by hand.

/**
 * A JSON Schema with `"type": "object"` at its root.
 */
export type SchemaOfObject = JSONSchema & {
  type: 'object'
}
/**
 * A JSON Schema of draft 2020-12, the default if `$schema` names no other dialect.
 */
export type JSONSchema = JSONSchemaKeywords | boolean | JSONSchemaOfAnotherDialect
/**
 * The id of a request: a string, or an integer of up to 4,300 digits. The sender chooses an id that none of its other pending requests has; the response has the same id, unchanged. (JSON-RPC also allows null and fractions, and advises against both. MCP and Toolwire reject them with -32600.)
 */
export type JSONRPCId = string | number
/**
 * The parameters of `completion/complete` since 2026-07-28.
 */
export type CompletionCompleteParams20260728 = CompletionCompleteParams & {
  _meta: RequestMeta20260728
}
/**
 * The severity of a log message, the least severe first.
 */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency'
/**
 * The result of `completion/complete` since 2026-07-28.
 */
export type CompletionCompleteResult20260728 = CompleteResult20260728 & {
  completion: Completion
}
/**
 * A complete result.
 */
export type CompleteResult20260728 = Result20260728 & {
  resultType: 'complete'
}
/**
 * A result that a client may cache.
 */
export type CacheableResult20260728 = CompleteResult20260728 & {
  /**
   * The lifetime in milliseconds; 0 means that the client must not cache the result.
   */
  ttlMs: number
  /**
   * Whether the cached result is valid for all users or for this user only.
   */
  cacheScope: 'public' | 'private'
}
/**
 * One part of a tool's result: text, an image, audio, an embedded file, or a link to a resource that the host may fetch.
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink
/**
 * The severity of a failure: `must` (the specification demands the behaviour, or hosts break without it), `should` (the specification recommends it), or `advice` (good to have).
 */
export type ContractSeverity = 'must' | 'should' | 'advice'
/**
 * One step: an action or an expectation. An expectation may have its own `severity`.
 */
export type ContractStep =
  | SendStep
  | RawStep
  | BytesStep
  | RepeatStep
  | ListStep
  | SettleStep
  | FollowStep
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
 * Text or bytes. In a string, `${name}` is replaced by the JSON of the value of that name.
 */
export type ContractText = string | ContractBytes | ContractRepetition | ContractText[]
/**
 * A recorded exchange: `-> ` precedes what the client sent, `<- ` what the server sent, and `-- ` what happened. Long lines are cut.
 *
 * @minItems 1
 */
export type ContractExchange = string[]
/**
 * A field of a form.
 */
export type ElicitationField =
  ElicitationTextField | ElicitationNumberField | ElicitationYesOrNoField | ElicitationChoicesField
/**
 * The result of a request of 2026-07-28 (`tools/call`, `resources/read` or `prompts/get`) that needs input from the user: the client asks the user and sends the request again. The tool then continues where it stopped.
 */
export type InputRequiredResult = Result20260728 & {
  resultType: 'input_required'
  /**
   * The elicitations, by name; the answers have the same names.
   */
  inputRequests?: {
    [k: string]: InputRequest
  }
  /**
   * Opaque state that the client sends back unchanged. It is valid for one use.
   */
  requestState?: string
}
/**
 * Several messages in one array. The response to a batch is one array with the responses to its requests, in any order. A batch without requests gets no response. Of MCP's revisions only 2025-03-26 has batches; Toolwire accepts them in all.
 *
 * @minItems 1
 */
export type JSONRPCBatch = (JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCErrorResponse)[]
/**
 * Any message between a client and a tool server that agreed on MCP 2024-11-05, the first revision.
 */
export type MCPMessage20241105 = ClientMessage20241105 | ServerMessage20241105
/**
 * A message from the client.
 */
export type ClientMessage20241105 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | ResourcesListRequest
  | ResourcesTemplatesListRequest
  | ResourcesReadRequest
  | PromptsListRequest
  | PromptsGetRequest
  | CompletionCompleteRequest
  | LoggingSetLevelRequest
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
 * A request: `resources/list`.
 */
export type ResourcesListRequest = JSONRPCRequest & {
  method: 'resources/list'
  params?: ResourcesListParams
}
/**
 * A request: `resources/templates/list`.
 */
export type ResourcesTemplatesListRequest = JSONRPCRequest & {
  method: 'resources/templates/list'
  params?: ResourcesTemplatesListParams
}
/**
 * A request: `resources/read`.
 */
export type ResourcesReadRequest = JSONRPCRequest & {
  method: 'resources/read'
  params: ResourcesReadParams
}
/**
 * A request: `prompts/list`.
 */
export type PromptsListRequest = JSONRPCRequest & {
  method: 'prompts/list'
  params?: PromptsListParams
}
/**
 * A request: `prompts/get`.
 */
export type PromptsGetRequest = JSONRPCRequest & {
  method: 'prompts/get'
  params: PromptsGetParams
}
/**
 * A request: `completion/complete`.
 */
export type CompletionCompleteRequest = JSONRPCRequest & {
  method: 'completion/complete'
  params: CompletionCompleteParams
}
/**
 * A request: `logging/setLevel`. Its response is that of `ping`.
 */
export type LoggingSetLevelRequest = JSONRPCRequest & {
  method: 'logging/setLevel'
  params: LoggingSetLevelParams
}
/**
 * A notification: `notifications/cancelled`.
 */
export type NotificationsCancelledNotification = JSONRPCNotification & {
  method: 'notifications/cancelled'
  params: NotificationsCancelledParams
}
/**
 * A message from the server.
 */
export type ServerMessage20241105 =
  | InitializeResponse20241105
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | ResourcesListResponse
  | ResourcesTemplatesListResponse
  | ResourcesReadResponse
  | PromptsListResponse
  | PromptsGetResponse
  | CompletionCompleteResponse
  | NotificationsProgressNotification
  | NotificationsMessageNotification
  | ListChangedNotification
  | JSONRPCErrorResponse
/**
 * The response to `initialize`.
 */
export type InitializeResponse20241105 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2024-11-05'
  }
}
/**
 * The response to `ping`.
 */
export type PingResponse = JSONRPCResponse & {
  result: PingResult
}
/**
 * The response to `tools/list`.
 */
export type ToolsListResponse = JSONRPCResponse & {
  result: ToolsListResult
}
/**
 * The response to `tools/call`.
 */
export type ToolsCallResponse = JSONRPCResponse & {
  result: ToolsCallResult
}
/**
 * The response to `resources/list`.
 */
export type ResourcesListResponse = JSONRPCResponse & {
  result: ResourcesListResult
}
/**
 * The response to `resources/templates/list`.
 */
export type ResourcesTemplatesListResponse = JSONRPCResponse & {
  result: ResourcesTemplatesListResult
}
/**
 * The response to `resources/read`.
 */
export type ResourcesReadResponse = JSONRPCResponse & {
  result: ResourcesReadResult
}
/**
 * The response to `prompts/list`.
 */
export type PromptsListResponse = JSONRPCResponse & {
  result: PromptsListResult
}
/**
 * The response to `prompts/get`.
 */
export type PromptsGetResponse = JSONRPCResponse & {
  result: PromptsGetResult
}
/**
 * The response to `completion/complete`.
 */
export type CompletionCompleteResponse = JSONRPCResponse & {
  result: CompletionCompleteResult
}
/**
 * A notification: `notifications/progress`.
 */
export type NotificationsProgressNotification = JSONRPCNotification & {
  method: 'notifications/progress'
  params: NotificationsProgressParams
}
/**
 * A notification: `notifications/message`.
 */
export type NotificationsMessageNotification = JSONRPCNotification & {
  method: 'notifications/message'
  params: NotificationsMessageParams
}
/**
 * A notification that a list has changed, such as `notifications/tools/list_changed`.
 */
export type ListChangedNotification = JSONRPCNotification & {
  /**
   * The list that has changed.
   */
  method:
    'notifications/tools/list_changed' | 'notifications/resources/list_changed' | 'notifications/prompts/list_changed'
  params?: NoParams
}
/**
 * Any message between a client and a tool server that agreed on MCP 2025-03-26. This revision added tool annotations and is the only one with batches.
 */
export type MCPMessage20250326 =
  ClientMessage20250326 | ServerMessage20250326 | ClientBatch20250326 | ServerBatch20250326
/**
 * A message from the client.
 */
export type ClientMessage20250326 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | ResourcesListRequest
  | ResourcesTemplatesListRequest
  | ResourcesReadRequest
  | PromptsListRequest
  | PromptsGetRequest
  | CompletionCompleteRequest
  | LoggingSetLevelRequest
  | NotificationsCancelledNotification
/**
 * A message from the server.
 */
export type ServerMessage20250326 =
  | InitializeResponse20250326
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | ResourcesListResponse
  | ResourcesTemplatesListResponse
  | ResourcesReadResponse
  | PromptsListResponse
  | PromptsGetResponse
  | CompletionCompleteResponse
  | NotificationsProgressNotification
  | NotificationsMessageNotification
  | ListChangedNotification
  | JSONRPCErrorResponse
/**
 * The response to `initialize`.
 */
export type InitializeResponse20250326 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2025-03-26'
  }
}
/**
 * Several messages in one array; the server's response is one array.
 *
 * @minItems 1
 */
export type ClientBatch20250326 = ClientMessage20250326[]
/**
 * The response to a batch: an array of responses.
 *
 * @minItems 1
 */
export type ServerBatch20250326 = ServerMessage20250326[]
/**
 * Any message between a client and a tool server that agreed on MCP 2025-06-18. This revision added elicitation (`elicitation/create`) and structured content, and removed batches.
 */
export type MCPMessage20250618 = ClientMessage20250618 | ServerMessage20250618
/**
 * A message from the client.
 */
export type ClientMessage20250618 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | ResourcesListRequest
  | ResourcesTemplatesListRequest
  | ResourcesReadRequest
  | PromptsListRequest
  | PromptsGetRequest
  | CompletionCompleteRequest
  | LoggingSetLevelRequest
  | NotificationsCancelledNotification
  | ElicitationCreateResponse
  | JSONRPCErrorResponse
/**
 * The response to `elicitation/create`.
 */
export type ElicitationCreateResponse = JSONRPCResponse & {
  result: ElicitationCreateResult
}
/**
 * A message from the server.
 */
export type ServerMessage20250618 =
  | InitializeResponse20250618
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | ResourcesListResponse
  | ResourcesTemplatesListResponse
  | ResourcesReadResponse
  | PromptsListResponse
  | PromptsGetResponse
  | CompletionCompleteResponse
  | NotificationsProgressNotification
  | NotificationsMessageNotification
  | ListChangedNotification
  | JSONRPCErrorResponse
  | ElicitationCreateRequest20250618
  | NotificationsCancelledNotification
/**
 * The response to `initialize`.
 */
export type InitializeResponse20250618 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2025-06-18'
  }
}
/**
 * A request: `elicitation/create`, without `mode` in this revision.
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
 * A message from the client.
 */
export type ClientMessage20251125 =
  | InitializeRequest
  | NotificationsInitializedNotification
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | ResourcesListRequest
  | ResourcesTemplatesListRequest
  | ResourcesReadRequest
  | PromptsListRequest
  | PromptsGetRequest
  | CompletionCompleteRequest
  | LoggingSetLevelRequest
  | NotificationsCancelledNotification
  | ElicitationCreateResponse
  | TasksGetRequest
  | TasksResultRequest
  | TasksCancelRequest
  | TasksListRequest
  | JSONRPCErrorResponse
/**
 * A request: `tasks/get`.
 */
export type TasksGetRequest = JSONRPCRequest & {
  method: 'tasks/get'
  params: TasksGetParams
}
/**
 * A request: `tasks/result`.
 */
export type TasksResultRequest = JSONRPCRequest & {
  method: 'tasks/result'
  params: TasksResultParams
}
/**
 * A request: `tasks/cancel`.
 */
export type TasksCancelRequest = JSONRPCRequest & {
  method: 'tasks/cancel'
  params: TasksCancelParams
}
/**
 * A request: `tasks/list`.
 */
export type TasksListRequest = JSONRPCRequest & {
  method: 'tasks/list'
  params?: TasksListParams
}
/**
 * A message from the server.
 */
export type ServerMessage20251125 =
  | InitializeResponse20251125
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | ResourcesListResponse
  | ResourcesTemplatesListResponse
  | ResourcesReadResponse
  | PromptsListResponse
  | PromptsGetResponse
  | CompletionCompleteResponse
  | NotificationsProgressNotification
  | NotificationsMessageNotification
  | ListChangedNotification
  | JSONRPCErrorResponse
  | ElicitationCreateRequest
  | ToolsCallResponseATask
  | TasksGetOrTasksCancelResponse
  | TasksListResponse
  | NotificationsTasksStatusNotification
  | NotificationsCancelledNotification
/**
 * The response to `initialize`.
 */
export type InitializeResponse20251125 = JSONRPCResponse & {
  result: InitializeResult & {
    protocolVersion: '2025-11-25'
  }
}
/**
 * The response to a `tools/call` that asks for a task.
 */
export type ToolsCallResponseATask = JSONRPCResponse & {
  result: ToolsCallResultATask
}
/**
 * The response to `tasks/get` or `tasks/cancel`.
 */
export type TasksGetOrTasksCancelResponse = JSONRPCResponse & {
  result: TasksGetResult
}
/**
 * The result of `tasks/get`: the state of a task. Only in 2025-11-25.
 */
export type TasksGetResult = Task & {
  _meta?: Meta
}
/**
 * The response to `tasks/list`.
 */
export type TasksListResponse = JSONRPCResponse & {
  result: TasksListResult
}
/**
 * A notification: `notifications/tasks/status`.
 */
export type NotificationsTasksStatusNotification = JSONRPCNotification & {
  method: 'notifications/tasks/status'
  params: NotificationsTasksStatusParams
}
/**
 * The parameters of `notifications/tasks/status`: the state of a task has changed. Only in 2025-11-25.
 */
export type NotificationsTasksStatusParams = Task & {
  _meta?: Meta
}
/**
 * Any message between a client and a tool server that speak MCP 2026-07-28: there is no handshake, the server sends no requests, and each request has its own revision and client capabilities in `_meta`.
 */
export type MCPMessage20260728 = ClientMessage20260728 | ServerMessage20260728
/**
 * A message from the client.
 */
export type ClientMessage20260728 =
  | ServerDiscoverRequest
  | ToolsListRequest20260728
  | ToolsCallRequest20260728
  | ResourcesListRequest20260728
  | ResourcesTemplatesListRequest20260728
  | ResourcesReadRequest20260728
  | PromptsListRequest20260728
  | PromptsGetRequest20260728
  | CompletionCompleteRequest20260728
  | SubscriptionsListenRequest
  | TasksGetRequest20260728
  | TasksUpdateRequest
  | TasksCancelRequest20260728
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
 * The parameters of `tools/call` since 2026-07-28. After an `input_required` result, the client sends the call again with the same arguments, the user's answers and the state of that result.
 */
export type ToolsCallParams20260728 = ToolsCallParams & {
  _meta: RequestMeta20260728
  /**
   * The user's answers, by the names of the elicitations.
   */
  inputResponses?: {
    [k: string]: ElicitationCreateResult
  }
  /**
   * The state of the `input_required` result, unchanged.
   */
  requestState?: string
}
/**
 * A request: `resources/list`.
 */
export type ResourcesListRequest20260728 = JSONRPCRequest & {
  method: 'resources/list'
  params: ResourcesListParams20260728
}
/**
 * A request: `resources/templates/list`.
 */
export type ResourcesTemplatesListRequest20260728 = JSONRPCRequest & {
  method: 'resources/templates/list'
  params: ResourcesTemplatesListParams20260728
}
/**
 * A request: `resources/read`.
 */
export type ResourcesReadRequest20260728 = JSONRPCRequest & {
  method: 'resources/read'
  params: ResourcesReadParams20260728
}
/**
 * The parameters of `resources/read` since 2026-07-28. After an `input_required` result, the client sends the request again with the user's answers and the state of that result.
 */
export type ResourcesReadParams20260728 = ResourcesReadParams & {
  _meta: RequestMeta20260728
  /**
   * The user's answers, by the names of the elicitations.
   */
  inputResponses?: {
    [k: string]: ElicitationCreateResult
  }
  /**
   * The state of the `input_required` result, unchanged.
   */
  requestState?: string
}
/**
 * A request: `prompts/list`.
 */
export type PromptsListRequest20260728 = JSONRPCRequest & {
  method: 'prompts/list'
  params: PromptsListParams20260728
}
/**
 * A request: `prompts/get`.
 */
export type PromptsGetRequest20260728 = JSONRPCRequest & {
  method: 'prompts/get'
  params: PromptsGetParams20260728
}
/**
 * The parameters of `prompts/get` since 2026-07-28. After an `input_required` result, the client sends the request again with the user's answers and the state of that result.
 */
export type PromptsGetParams20260728 = PromptsGetParams & {
  _meta: RequestMeta20260728
  /**
   * The user's answers, by the names of the elicitations.
   */
  inputResponses?: {
    [k: string]: ElicitationCreateResult
  }
  /**
   * The state of the `input_required` result, unchanged.
   */
  requestState?: string
}
/**
 * A request: `completion/complete`.
 */
export type CompletionCompleteRequest20260728 = JSONRPCRequest & {
  method: 'completion/complete'
  params: CompletionCompleteParams20260728
}
/**
 * A request: `subscriptions/listen`.
 */
export type SubscriptionsListenRequest = JSONRPCRequest & {
  method: 'subscriptions/listen'
  params: SubscriptionsListenParams
}
/**
 * A request: `tasks/get`.
 */
export type TasksGetRequest20260728 = JSONRPCRequest & {
  method: 'tasks/get'
  params: TasksGetParams20260728
}
/**
 * The parameters of `tasks/get` since 2026-07-28. Only clients that declare the extension `io.modelcontextprotocol/tasks` may send it.
 */
export type TasksGetParams20260728 = TasksGetParams & {
  _meta: RequestMeta20260728
}
/**
 * A request: `tasks/update`.
 */
export type TasksUpdateRequest = JSONRPCRequest & {
  method: 'tasks/update'
  params: TasksUpdateParams
}
/**
 * A request: `tasks/cancel`.
 */
export type TasksCancelRequest20260728 = JSONRPCRequest & {
  method: 'tasks/cancel'
  params: TasksCancelParams20260728
}
/**
 * The parameters of `tasks/cancel` since 2026-07-28. Only clients that declare the extension `io.modelcontextprotocol/tasks` may send it.
 */
export type TasksCancelParams20260728 = TasksCancelParams & {
  _meta: RequestMeta20260728
}
/**
 * A message from the server.
 */
export type ServerMessage20260728 =
  | ServerDiscoverResponse
  | ToolsListResponse20260728
  | ToolsCallResponse20260728
  | ResourcesListResponse20260728
  | ResourcesTemplatesListResponse20260728
  | ResourcesReadResponse20260728
  | PromptsListResponse20260728
  | PromptsGetResponse20260728
  | CompletionCompleteResponse20260728
  | NotificationsSubscriptionsAcknowledgedNotification
  | ListChangedNotification20260728
  | SubscriptionsListenResponse
  | TasksGetResponse20260728
  | TasksUpdateOrTasksCancelResponse20260728
  | NotificationsTasksNotification
  | NotificationsProgressNotification
  | NotificationsMessageNotification
  | JSONRPCErrorResponse
/**
 * The response to `server/discover`.
 */
export type ServerDiscoverResponse = JSONRPCResponse & {
  result: ServerDiscoverResult
}
/**
 * The result of `server/discover`.
 */
export type ServerDiscoverResult = CacheableResult20260728 & {
  /**
   * The revisions that the server speaks, newest first.
   *
   * @minItems 1
   */
  supportedVersions: string[]
  capabilities: ServerCapabilities
  /**
   * Instructions for the model on how to use the tools.
   */
  instructions?: string
}
/**
 * The response to `tools/list`.
 */
export type ToolsListResponse20260728 = JSONRPCResponse & {
  result: ToolsListResult20260728
}
/**
 * The result of `tools/list` since 2026-07-28. It is the same for every connection.
 */
export type ToolsListResult20260728 = CacheableResult20260728 & {
  /**
   * The tools, in a stable order.
   */
  tools: Tool20260728[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
}
/**
 * The response to `tools/call`.
 */
export type ToolsCallResponse20260728 = JSONRPCResponse & {
  result: ToolsCallResult20260728
}
/**
 * The result of `tools/call` since 2026-07-28: the tool's result, the input that the tool needs from the user first, or a task that goes on.
 */
export type ToolsCallResult20260728 =
  CompleteToolsCallResult20260728 | InputRequiredResult | ToolsCallResultATask20260728
/**
 * The result of the tool, whether it succeeded or failed.
 */
export type CompleteToolsCallResult20260728 = CompleteResult20260728 & {
  /**
   * The result for models and people. It includes structured content as JSON text.
   */
  content: ContentBlock[]
  /**
   * The result for programs, which fits the tool's `outputSchema`: any JSON value. Absent if the tool failed.
   */
  structuredContent?: unknown
  /**
   * True if the tool failed; the content states the reason.
   */
  isError?: boolean
}
/**
 * The result of a `tools/call` that goes on as a task, for a client that declares the extension `io.modelcontextprotocol/tasks`.
 */
export type ToolsCallResultATask20260728 = Result20260728 &
  Task20260728 & {
    resultType: 'task'
  }
/**
 * The state of a task, with the input that it requires, its result or its error.
 */
export type DetailedTask20260728 = Task20260728 &
  (WorkingOrCancelledTask20260728 | TaskThatRequiresInput20260728 | CompletedTask20260728 | FailedTask20260728)
/**
 * The response to `resources/list`.
 */
export type ResourcesListResponse20260728 = JSONRPCResponse & {
  result: ResourcesListResult20260728
}
/**
 * The result of `resources/list` since 2026-07-28. It is the same for every connection.
 */
export type ResourcesListResult20260728 = CacheableResult20260728 & {
  /**
   * The resources, in a stable order.
   */
  resources: Resource[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
}
/**
 * The response to `resources/templates/list`.
 */
export type ResourcesTemplatesListResponse20260728 = JSONRPCResponse & {
  result: ResourcesTemplatesListResult20260728
}
/**
 * The result of `resources/templates/list` since 2026-07-28. It is the same for every connection.
 */
export type ResourcesTemplatesListResult20260728 = CacheableResult20260728 & {
  /**
   * The templates, in a stable order.
   */
  resourceTemplates: ResourceTemplate[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
}
/**
 * The response to `resources/read`.
 */
export type ResourcesReadResponse20260728 = JSONRPCResponse & {
  result: ResourcesReadResult20260728
}
/**
 * The result of `resources/read` since 2026-07-28: what the resource holds, or the input that the server needs from the user first.
 */
export type ResourcesReadResult20260728 = CompleteResourcesReadResult20260728 | InputRequiredResult
/**
 * What the resource holds.
 */
export type CompleteResourcesReadResult20260728 = CacheableResult20260728 & {
  /**
   * The contents; several if the resource consists of several.
   */
  contents: (TextResource | BinaryResource)[]
}
/**
 * The response to `prompts/list`.
 */
export type PromptsListResponse20260728 = JSONRPCResponse & {
  result: PromptsListResult20260728
}
/**
 * The result of `prompts/list` since 2026-07-28. It is the same for every connection.
 */
export type PromptsListResult20260728 = CacheableResult20260728 & {
  /**
   * The prompts, in a stable order.
   */
  prompts: Prompt[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
}
/**
 * The response to `prompts/get`.
 */
export type PromptsGetResponse20260728 = JSONRPCResponse & {
  result: PromptsGetResult20260728
}
/**
 * The result of `prompts/get` since 2026-07-28: the messages of the prompt, or the input that the server needs from the user first.
 */
export type PromptsGetResult20260728 = CompletePromptsGetResult20260728 | InputRequiredResult
/**
 * The messages of the prompt.
 */
export type CompletePromptsGetResult20260728 = CompleteResult20260728 & {
  /**
   * The description of the prompt.
   */
  description?: string
  /**
   * The messages, in their order.
   */
  messages: PromptMessage[]
}
/**
 * The response to `completion/complete`.
 */
export type CompletionCompleteResponse20260728 = JSONRPCResponse & {
  result: CompletionCompleteResult20260728
}
/**
 * A notification: `notifications/subscriptions/acknowledged`.
 */
export type NotificationsSubscriptionsAcknowledgedNotification = JSONRPCNotification & {
  method: 'notifications/subscriptions/acknowledged'
  params: NotificationsSubscriptionsAcknowledgedParams
}
/**
 * A notification that a list has changed, such as `notifications/tools/list_changed`.
 */
export type ListChangedNotification20260728 = JSONRPCNotification & {
  /**
   * The list that has changed.
   */
  method:
    'notifications/tools/list_changed' | 'notifications/resources/list_changed' | 'notifications/prompts/list_changed'
  params: NotificationsToolsListChangedParams20260728
}
/**
 * The response to `subscriptions/listen`.
 */
export type SubscriptionsListenResponse = JSONRPCResponse & {
  result: SubscriptionsListenResult
}
/**
 * The result of `subscriptions/listen`, sent when the server exits: no more notifications follow.
 */
export type SubscriptionsListenResult = CompleteResult20260728 & {
  _meta: SubscriptionMeta
}
/**
 * The response to `tasks/get`.
 */
export type TasksGetResponse20260728 = JSONRPCResponse & {
  result: TasksGetResult20260728
}
/**
 * The result of `tasks/get` since 2026-07-28: the state of a task, with the input that it requires, its result or its error.
 */
export type TasksGetResult20260728 = CompleteResult20260728 & DetailedTask20260728
/**
 * The response to `tasks/update` or `tasks/cancel`.
 */
export type TasksUpdateOrTasksCancelResponse20260728 = JSONRPCResponse & {
  result: AcknowledgementOfATasksRequest
}
/**
 * A notification: `notifications/tasks`.
 */
export type NotificationsTasksNotification = JSONRPCNotification & {
  method: 'notifications/tasks'
  params: NotificationsTasksParams
}
/**
 * The parameters of `notifications/tasks`, for subscribers since 2026-07-28: what `tasks/get` would return just now.
 */
export type NotificationsTasksParams = DetailedTask20260728 & {
  _meta: SubscriptionMeta
}
/**
 * Any message between a program and a tool server that speak JSON-RPC 2.0 without MCP: there is no handshake, and the methods are those of MCP until 2025-11-25. Editors, scripts and hosts without MCP support use Toolwire in this way.
 */
export type PlainJSONRPCMessage = ClientMessagePlain | ServerMessagePlain | ClientBatchPlain | ServerBatchPlain
/**
 * A message from the client.
 */
export type ClientMessagePlain =
  | PingRequest
  | ToolsListRequest
  | ToolsCallRequest
  | ResourcesListRequest
  | ResourcesTemplatesListRequest
  | ResourcesReadRequest
  | PromptsListRequest
  | PromptsGetRequest
  | CompletionCompleteRequest
  | LoggingSetLevelRequest
  | NotificationsCancelledNotification
  | CancelRequestNotification
/**
 * A notification: `$/cancelRequest`.
 */
export type CancelRequestNotification = JSONRPCNotification & {
  method: '$/cancelRequest'
  params: CancelRequestParams
}
/**
 * A message from the server.
 */
export type ServerMessagePlain =
  | PingResponse
  | ToolsListResponse
  | ToolsCallResponse
  | ResourcesListResponse
  | ResourcesTemplatesListResponse
  | ResourcesReadResponse
  | PromptsListResponse
  | PromptsGetResponse
  | CompletionCompleteResponse
  | NotificationsProgressNotification
  | NotificationsMessageNotification
  | JSONRPCErrorResponse
/**
 * Several messages in one array; the server's response is one array.
 *
 * @minItems 1
 */
export type ClientBatchPlain = ClientMessagePlain[]
/**
 * The response to a batch: an array of responses.
 *
 * @minItems 1
 */
export type ServerBatchPlain = ServerMessagePlain[]
/**
 * A function definition in the format of OpenAI's APIs and of the many APIs compatible with them.
 */
export type OpenAIFunction = OpenAIChatFunction | OpenAIResponseFunction
/**
 * A function for the Responses API, which makes a function strict if `strict` is missing.
 */
export type OpenAIResponseFunction = OpenAIFunctionDefinition & {
  type: 'function'
  /**
   * Arguments fit the schema exactly. Every property is then required, and no other properties are allowed.
   */
  strict: boolean
}
/**
 * A message to a model in the structured exchange: the user's question, the result of an action, the user's answer, or an error. It is sent as JSON text.
 */
export type ReActMessage = ReActQuestion | ReActActionResult | ReActUserResponse | ReActError
/**
 * A model's reply in the structured exchange: it asks the user, requests one tool call, or gives the final answer. A reply is exactly one such object. A model whose output can be constrained to a schema receives one for its tools, with a branch for the parameters of each (`toolwire schema reply`); in the form for OpenAI's strict mode the reply is the member `reply` of an object.
 */
export type ReActReply = ReActAsk | ReActAction | ReActFinalAnswer
/**
 * An entry of a recording: one line of the file that `toolwire wrap --record` writes and `toolwire replay` reads. It holds what was sent: arguments and results stay, and only what looks like a secret is replaced by `[hidden]`. In a copy by `toolwire replay --shapes`, types, lengths and digests stand in place of all texts and numbers.
 */
export type RecordingEntry = ServerStartedEntry | MessageEntry | NoiseEntry | CutEntry | ServerEndedEntry
/**
 * The result of `tasks/cancel`: the state of the task, which is stopped. Only in 2025-11-25.
 */
export type TasksCancelResult = Task & {
  _meta?: Meta
}
/**
 * A YAML file of tools: one tool, a list of tools, or several documents separated by `---`.
 */
export type ToolLibraryFile = ToolLibraryEntry | ToolLibraryEntry[]
/**
 * A parameter in a mapping.
 */
export type ToolLibraryParameter = ToolLibraryParameterWords
/**
 * A parameter in a list.
 */
export type ToolLibraryNamedParameter = ToolLibraryParameterWords & {
  /**
   * The name of the parameter.
   */
  name: string
}
/**
 * A command line without a shell, as a list of words. `{name}` is replaced by an argument, `{name?}` by an argument that may be absent, `{name?text}` by the text if the argument is true or given, `{*}` by all arguments as JSON; `{{` is a brace. A list among the words is omitted if an argument in it is absent.
 *
 * @minItems 1
 */
export type ToolLibraryCommandLine = ((string | number) | (string | number)[])[]
/**
 * A script for the shell `sh`. Each argument is an environment variable of its name, unset if the argument is absent.
 */
export type ToolLibraryScript = string
/**
 * An event of an agent's transcript: one line of the file and of the output of `toolwire ask --json`. The external events (questions, replies, results, decisions and answers of users) suffice to restore a run; the others record what followed from them.
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
  | TaskStartedEvent
  | ToolAskedEvent
  | FormAnsweredEvent
  | CallFinishedEvent
  | UserAskedEvent
  | UserAnsweredEvent
  | FinalForcedEvent
  | EndedEvent

/**
 * A tool definition in the format of Anthropic's API.
 */
export interface AnthropicTool {
  /**
   * Marks a tool that the user defines; it may be omitted.
   */
  type?: 'custom'
  /**
   * The tool's name.
   */
  name: string
  /**
   * A description of the tool for the model.
   */
  description?: string
  /**
   * The JSON Schema of the tool's input.
   */
  input_schema: SchemaOfObject
}
/**
 * The keywords of draft 2020-12. Unknown keywords are allowed.
 */
export interface JSONSchemaKeywords {
  /**
   * The dialect.
   */
  $schema?: 'https://json-schema.org/draft/2020-12/schema'
  /**
   * The URI that identifies the schema.
   */
  $id?: string
  /**
   * A reference to a schema that also applies.
   */
  $ref?: string
  /**
   * A name of the schema within its document, for references.
   */
  $anchor?: string
  /**
   * A reference to a schema that also applies, resolved during validation.
   */
  $dynamicRef?: string
  /**
   * A name of the schema for `$dynamicRef`.
   */
  $dynamicAnchor?: string
  /**
   * The vocabularies of a dialect.
   */
  $vocabulary?: {
    [k: string]: boolean
  }
  /**
   * A comment for maintainers of the schema.
   */
  $comment?: string
  /**
   * Schemas for references.
   */
  $defs?: {
    [k: string]: JSONSchema
  }
  /**
   * The type of the value, or a list of types.
   */
  type?:
    | ('array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string')
    | ('array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string')[]
  /**
   * The allowed values.
   */
  enum?: unknown[]
  /**
   * The only allowed value.
   */
  const?: unknown
  /**
   * A title for people.
   */
  title?: string
  /**
   * A description of the value.
   */
  description?: string
  /**
   * The default value.
   */
  default?: unknown
  /**
   * Example values.
   */
  examples?: unknown[]
  /**
   * The value is deprecated.
   */
  deprecated?: boolean
  /**
   * Only the owner of the value changes it.
   */
  readOnly?: boolean
  /**
   * The value is never returned.
   */
  writeOnly?: boolean
  /**
   * The number is a multiple of this.
   */
  multipleOf?: number
  /**
   * The maximum of the number, inclusive.
   */
  maximum?: number
  /**
   * The maximum of the number, exclusive.
   */
  exclusiveMaximum?: number
  /**
   * The minimum of the number, inclusive.
   */
  minimum?: number
  /**
   * The minimum of the number, exclusive.
   */
  exclusiveMinimum?: number
  /**
   * The maximum number of characters of the string.
   */
  maxLength?: number
  /**
   * The minimum number of characters of the string.
   */
  minLength?: number
  /**
   * A regular expression that matches a part of the string.
   */
  pattern?: string
  /**
   * The format of the string, such as `date-time`.
   */
  format?: string
  /**
   * The encoding of bytes as a string, such as `base64`.
   */
  contentEncoding?: string
  /**
   * The media type of the string's contents.
   */
  contentMediaType?: string
  /**
   * The schema of the decoded contents of the string.
   */
  contentSchema?: JSONSchema
  /**
   * The schema of all items, or of all items after `prefixItems`.
   */
  items?: JSONSchema
  /**
   * The schemas of the first items, by position.
   *
   * @minItems 1
   */
  prefixItems?: JSONSchema[]
  /**
   * A schema that at least one item fits.
   */
  contains?: JSONSchema
  /**
   * The maximum number of items.
   */
  maxItems?: number
  /**
   * The minimum number of items.
   */
  minItems?: number
  /**
   * All items are different.
   */
  uniqueItems?: boolean
  /**
   * The maximum number of items that fit `contains`.
   */
  maxContains?: number
  /**
   * The minimum number of items that fit `contains`.
   */
  minContains?: number
  /**
   * The schema of every item that no other keyword evaluates.
   */
  unevaluatedItems?: JSONSchema
  /**
   * The schemas of properties, by name.
   */
  properties?: {
    [k: string]: JSONSchema
  }
  /**
   * The schemas of properties whose names match a regular expression.
   */
  patternProperties?: {
    [k: string]: JSONSchema
  }
  /**
   * The schema of all other properties.
   */
  additionalProperties?: JSONSchema
  /**
   * The schema of all property names.
   */
  propertyNames?: JSONSchema
  /**
   * The schema of every property that no other keyword evaluates.
   */
  unevaluatedProperties?: JSONSchema
  /**
   * The names of the required properties.
   */
  required?: string[]
  /**
   * The names of the properties that are required if a certain property is present.
   */
  dependentRequired?: {
    [k: string]: string[]
  }
  /**
   * The schemas that apply to the object if a certain property is present.
   */
  dependentSchemas?: {
    [k: string]: JSONSchema
  }
  /**
   * The maximum number of properties.
   */
  maxProperties?: number
  /**
   * The minimum number of properties.
   */
  minProperties?: number
  /**
   * The value fits all of these schemas.
   *
   * @minItems 1
   */
  allOf?: JSONSchema[]
  /**
   * The value fits at least one of these schemas.
   *
   * @minItems 1
   */
  anyOf?: JSONSchema[]
  /**
   * The value fits exactly one of these schemas.
   *
   * @minItems 1
   */
  oneOf?: JSONSchema[]
  /**
   * The value does not fit this schema.
   */
  not?: JSONSchema
  /**
   * A condition: the value fits this schema.
   */
  if?: JSONSchema
  /**
   * The schema that applies if the value fits `if`.
   */
  then?: JSONSchema
  /**
   * The schema that applies if the value does not fit `if`.
   */
  else?: JSONSchema
  /**
   * The former name of `$defs`.
   */
  definitions?: {
    [k: string]: JSONSchema
  }
  /**
   * The former name of `dependentSchemas` and `dependentRequired`.
   */
  dependencies?: {
    [k: string]: JSONSchema | string[]
  }
  /**
   * The predecessor of `$dynamicAnchor`.
   */
  $recursiveAnchor?: string
  /**
   * The predecessor of `$dynamicRef`.
   */
  $recursiveRef?: string
  [k: string]: unknown
}
/**
 * A JSON Schema of another dialect, whose keywords are not checked.
 */
export interface JSONSchemaOfAnotherDialect {
  /**
   * The other dialect.
   */
  $schema: string
  [k: string]: unknown
}
/**
 * The parameters of `$/cancelRequest`, the notification with which editors cancel a request (Language Server Protocol). The cancelled request gets the error -32800.
 */
export interface CancelRequestParams {
  /**
   * The id of the request to cancel.
   */
  id: JSONRPCId
}
/**
 * The parameters of `notifications/cancelled`: the sender of a request no longer needs its response. The cancelled request gets no response.
 */
export interface NotificationsCancelledParams {
  /**
   * The id of the request to cancel.
   */
  requestId: JSONRPCId
  /**
   * The reason, for a log.
   */
  reason?: string
  _meta?: Meta
}
/**
 * Metadata of a message or a part of it, for programs that know its names (`_meta`). Names have a prefix such as `example.com/`; names with the prefix `io.modelcontextprotocol/` belong to MCP. Models do not see metadata.
 */
export interface Meta {
  [k: string]: unknown
}
/**
 * The capabilities of a client. The client does not support a capability that is missing here. Only the capabilities that concern a tool server are described.
 */
export interface ClientCapabilities {
  /**
   * The client supports elicitation; an empty object means that it supports forms. Since 2025-06-18.
   */
  elicitation?: {
    /**
     * The client can show a form. Since 2025-11-25.
     */
    form?: {
      [k: string]: unknown
    }
    /**
     * The client can send the user to a web page. Since 2025-11-25.
     */
    url?: {
      [k: string]: unknown
    }
  }
  /**
   * The extensions of MCP that the client supports, by their names. Since 2026-07-28.
   */
  extensions?: {
    /**
     * The client accepts a task in place of the result of a call.
     */
    'io.modelcontextprotocol/tasks'?: {
      [k: string]: unknown
    }
  }
  [k: string]: unknown
}
/**
 * The parameters of `completion/complete`: an argument of a prompt or of a URI template that the user is filling in.
 */
export interface CompletionCompleteParams {
  /**
   * The prompt, or the resource by its URI template.
   */
  ref: PromptReference | ResourceReference
  /**
   * The argument.
   */
  argument: {
    /**
     * Its name.
     */
    name: string
    /**
     * The text typed so far.
     */
    value: string
  }
  /**
   * What is known already. Since 2025-06-18.
   */
  context?: {
    /**
     * The arguments that are filled in already.
     */
    arguments?: {
      [k: string]: string
    }
  }
  _meta?: RequestMeta
}
/**
 * A prompt.
 */
export interface PromptReference {
  type: 'ref/prompt'
  /**
   * The name of the prompt.
   */
  name: string
}
/**
 * A resource.
 */
export interface ResourceReference {
  type: 'ref/resource'
  /**
   * The URI template of the resource.
   */
  uri: string
}
/**
 * The metadata of a request (`_meta`).
 */
export interface RequestMeta {
  /**
   * Requests progress notifications for the call; they carry this token.
   */
  progressToken?: JSONRPCId
  [k: string]: unknown
}
/**
 * The metadata of every request of 2026-07-28 (`_meta`). Since there is no handshake, each request names its revision and the client's capabilities.
 */
export interface RequestMeta20260728 {
  /**
   * The revision.
   */
  'io.modelcontextprotocol/protocolVersion': '2026-07-28'
  'io.modelcontextprotocol/clientCapabilities': ClientCapabilities
  'io.modelcontextprotocol/clientInfo'?: Implementation
  /**
   * The least severe level of log messages to send for this request; without it, none are sent.
   */
  'io.modelcontextprotocol/logLevel'?: LogLevel
  /**
   * Requests progress notifications for the call; they carry this token.
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
 * The name and version of a program that speaks MCP.
 */
export interface Implementation {
  /**
   * The name, for programs.
   */
  name: string
  /**
   * The name to show to users. Since 2025-06-18.
   */
  title?: string
  /**
   * The version.
   */
  version: string
  /**
   * A description of the program. Since 2025-11-25.
   */
  description?: string
  /**
   * The address of a page about the program. Since 2025-11-25.
   */
  websiteUrl?: string
  /**
   * Icons to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
}
/**
 * An image that hosts show next to a name. Since 2025-11-25.
 */
export interface Icon {
  /**
   * The address of the image: an https: or http: URL, or a data: URI.
   */
  src: string
  /**
   * The media type, if the source reports none or a wrong one.
   */
  mimeType?: string
  /**
   * The sizes for which the image is suitable, such as `48x48`, or `any` for a scalable image.
   */
  sizes?: string[]
  /**
   * The theme for which the image was drawn; default: any.
   */
  theme?: 'light' | 'dark'
}
/**
 * The members of every result of 2026-07-28.
 */
export interface Result20260728 {
  /**
   * The type of the result: `complete`, or `input_required` if the client has to ask the user and send the call again, or `task` if the call goes on as a task.
   */
  resultType: string
  _meta?: Meta & {
    'io.modelcontextprotocol/serverInfo'?: Implementation
  }
}
/**
 * The values to propose.
 */
export interface Completion {
  /**
   * The values, the best first.
   *
   * @maxItems 100
   */
  values: string[]
  /**
   * The number of all values, if it is known.
   */
  total?: number
  /**
   * Whether there are more values than these.
   */
  hasMore?: boolean
}
/**
 * The result of `completion/complete`.
 */
export interface CompletionCompleteResult {
  completion: Completion1
  _meta?: Meta
}
/**
 * The values to propose.
 */
export interface Completion1 {
  /**
   * The values, the best first.
   *
   * @maxItems 100
   */
  values: string[]
  /**
   * The number of all values, if it is known.
   */
  total?: number
  /**
   * Whether there are more values than these.
   */
  hasMore?: boolean
}
/**
 * The audience and the priority of a content block.
 */
export interface ContentAnnotations {
  /**
   * The audience: the user, the model (`assistant`), or both.
   */
  audience?: ('user' | 'assistant')[]
  /**
   * The priority, from 0 (optional) to 1 (required).
   */
  priority?: number
  /**
   * The time of the last change of the content, with date, time and UTC offset. Since 2025-06-18.
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
 * An image.
 */
export interface ImageContent {
  type: 'image'
  /**
   * The bytes, in base64 with the standard alphabet.
   */
  data: string
  /**
   * The media type, such as image/png.
   */
  mimeType: string
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * Audio. Since 2025-03-26.
 */
export interface AudioContent {
  type: 'audio'
  /**
   * The bytes, in base64 with the standard alphabet.
   */
  data: string
  /**
   * The media type, such as audio/wav.
   */
  mimeType: string
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * A file with its contents.
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
 * A text file.
 */
export interface TextResource {
  /**
   * The URI of the file.
   */
  uri: string
  /**
   * The media type.
   */
  mimeType?: string
  /**
   * The text of the file.
   */
  text: string
  _meta?: Meta
}
/**
 * A binary file.
 */
export interface BinaryResource {
  /**
   * The URI of the file.
   */
  uri: string
  /**
   * The media type.
   */
  mimeType?: string
  /**
   * The bytes of the file, in base64 with the standard alphabet.
   */
  blob: string
  _meta?: Meta
}
/**
 * A link to a resource that the host may fetch itself. Since 2025-06-18.
 */
export interface ResourceLink {
  type: 'resource_link'
  /**
   * The address of the resource.
   */
  uri: string
  /**
   * The name of the resource.
   */
  name: string
  /**
   * The name to show to users.
   */
  title?: string
  /**
   * A description of the resource.
   */
  description?: string
  /**
   * The media type.
   */
  mimeType?: string
  /**
   * The size in bytes.
   */
  size?: number
  /**
   * Icons to choose from.
   */
  icons?: Icon[]
  annotations?: ContentAnnotations
  _meta?: Meta
}
/**
 * The file that `toolwire check --baseline` reads: known gaps of a server, each with a reason.
 */
export interface ContractBaseline {
  /**
   * The known gaps.
   */
  gaps: ContractGap[]
}
/**
 * A case that the server is known to fail.
 */
export interface ContractGap {
  /**
   * The id of a case, or a pattern such as `malformed/*`.
   */
  case: string
  /**
   * The reason why the gap is accepted.
   */
  reason: string
  /**
   * The revision of MCP to which the gap is limited; default: all revisions.
   */
  revision?: string
  /**
   * The framing to which the gap is limited; default: both framings.
   */
  framing?: string
}
/**
 * One behaviour of a tool server, and the steps that test it. The README next to the cases describes how a runner plays them.
 */
export interface ContractCase {
  /**
   * The id of the case: an area and a subject.
   */
  id: string
  /**
   * The tested behaviour, in one sentence.
   */
  behaviour: string
  /**
   * The address of the specification of the behaviour.
   */
  source: string
  /**
   * True if Toolwire demands more than the source, which is only related. The default is false.
   */
  ours?: boolean
  severity: ContractSeverity
  /**
   * The era of MCP in which a runner plays the case: `any` is the newest that the server speaks (the default), `each` is every era, `legacy` has a handshake, `modern` is 2026-07-28 or later, and `plain` is JSON-RPC without MCP.
   */
  era?: 'any' | 'each' | 'legacy' | 'modern' | 'plain'
  /**
   * The revisions of MCP; a runner plays the case in each of them and ignores `era`.
   *
   * @minItems 1
   */
  revisions?: ('2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28')[]
  /**
   * The framings in which a runner plays the case; default: both.
   *
   * @minItems 1
   */
  framings?: ('lines' | 'headers')[]
  /**
   * The process in which a runner plays the case: `shared` is a conversation that other cases use too (the default), `opened` is a conversation of its own that has been opened as its revision requires, `fresh` is a process that has received nothing, and `run`, after all other cases, applies to all messages of the whole run and has expectations only.
   */
  process?: 'shared' | 'opened' | 'fresh' | 'run'
  /**
   * The values that the messages use, or other facts that the runner must know about the server. A case without a value that it needs is not applicable. The README lists the values.
   */
  needs?: string[]
  /**
   * The steps, in order. The first unmet expectation decides the verdict.
   *
   * @minItems 1
   */
  steps: ContractStep[]
}
/**
 * Sends a message in the framing. The runner adds `jsonrpc` and, in the modern era, the `_meta` that each request needs, unless the message has them. A string that is only `${name}` is replaced by the value of that name.
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
 * Sends any text as one message in the framing.
 */
export interface RawStep {
  raw: ContractText
}
/**
 * Bytes that are not text.
 */
export interface ContractBytes {
  /**
   * The bytes, in base64.
   */
  base64: string
}
/**
 * A text that is repeated.
 */
export interface ContractRepetition {
  /**
   * The text to repeat.
   */
  repeat: string
  /**
   * The number of repetitions.
   */
  times: number
}
/**
 * Writes bytes unchanged, without framing.
 */
export interface BytesStep {
  bytes: ContractText
}
/**
 * Takes the steps the given number of times; `${n}` is 1, then 2, and so on.
 */
export interface RepeatStep {
  /**
   * The number of repetitions.
   */
  times: number
  /**
   * The steps to repeat.
   *
   * @minItems 1
   */
  steps: ContractStep[]
}
/**
 * Requests all pages of `tools/list` and stores their entries under a name. Fails if a page is not a list or the pages do not end.
 */
export interface ListStep {
  /**
   * The name under which the runner stores the entries.
   */
  list: string
  severity?: ContractSeverity
}
/**
 * Waits until the server has nothing more to send: sends a request `${probe}`, waits for its response, and repeats this once. Fails if a probe gets no response, because the server is then blocked. The next expectations are decided at once, without waiting.
 */
export interface SettleStep {
  /**
   * Always true.
   */
  settle: true
  severity?: ContractSeverity
}
/**
 * Polls the task that the response with this id has made, until it has ended: with `tasks/get`, whose ids are the given one and `/get-1`, `/get-2`, and so on. Declines what the task asks. Fails if a state does not fit its schema, or if the task does not end in time. Does nothing if the response is no task.
 */
export interface FollowStep {
  /**
   * The id of the call.
   */
  follow: string
  severity?: ContractSeverity
}
/**
 * Closes the server's standard input.
 */
export interface CloseStep {
  /**
   * The stream to close.
   */
  close: 'stdin'
}
/**
 * Sends a signal to the process that the runner started.
 */
export interface SignalStep {
  /**
   * The signal.
   */
  signal: 'SIGTERM' | 'SIGKILL'
}
/**
 * A response to this request that fits one of the described alternatives, or any response if the step describes none. The id must be the same value of the same JSON type.
 */
export interface AnswerExpectation {
  /**
   * The id of the request, or `${n}`; null also accepts an error without an id.
   */
  answer: string | number | null
  /**
   * Accepts a result that fits this JSON Schema.
   */
  result?:
    | {
        [k: string]: unknown
      }
    | boolean
  /**
   * Accepts a result with `isError` and content that states the reason.
   */
  tool_error?: true
  /**
   * Accepts an error with one of these codes; true accepts any code.
   */
  error?: number[] | true
  /**
   * A JSON Schema for the `data` of that error.
   */
  data?:
    | {
        [k: string]: unknown
      }
    | boolean
  severity?: ContractSeverity
}
/**
 * A JSON-RPC error with any id, since a server cannot always read the id of a message that it rejects.
 */
export interface RefusalExpectation {
  /**
   * Accepts an error with one of these codes; true accepts any code.
   */
  refused: number[] | true
  severity?: ContractSeverity
}
/**
 * No response to this request so far.
 */
export interface SilenceExpectation {
  /**
   * The id of the request.
   */
  unanswered: string | number
  severity?: ContractSeverity
}
/**
 * Exactly one response to each of these requests so far, in this order.
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
 * A message that fits; for a batch, a member or the whole array.
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
 * No message so far fits; for a batch, none of its members.
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
 * Every message so far fits; for a batch, each of its members.
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
   * Limits the expectation to messages that fit this JSON Schema.
   */
  among?:
    | {
        [k: string]: unknown
      }
    | boolean
  severity?: ContractSeverity
}
/**
 * Only messages on standard output so far. Blank lines are allowed.
 */
export interface QuietExpectation {
  /**
   * Always true.
   */
  quiet: true
  severity?: ContractSeverity
}
/**
 * A rule that JSON Schema cannot express: `answered-once`, `answers-asked`, `progress-asked`, `progress-increases`, `progress-before-answer`, `output-schema`, `logging-declared`; for lists of tools `unique-names`, `same-list` (two lists), `portable`, `portable-everywhere`, `destructive-asks`, `parameter-headers`.
 */
export interface RuleExpectation {
  /**
   * The name of the rule.
   */
  rule: string
  /**
   * The names of the lists to which the rule applies.
   */
  lists?: string[]
  severity?: ContractSeverity
}
/**
 * The process exits without a signal from the runner.
 */
export interface ExitExpectation {
  exit: ContractExit
  severity?: ContractSeverity
}
/**
 * The conditions of the exit.
 */
export interface ContractExit {
  /**
   * The time limit in seconds.
   */
  within_seconds: number
  /**
   * The accepted exit statuses; default: any.
   */
  status?: number[]
}
/**
 * Every process that the server started has exited at most two seconds later.
 */
export interface OrphansExpectation {
  /**
   * Always `none`.
   */
  orphans: 'none'
  severity?: ContractSeverity
}
/**
 * The output of `toolwire check --json`: the verdicts on one server.
 */
export interface ContractReport {
  /**
   * The command that started the server.
   */
  command: string[]
  /**
   * The name and version that the server reports.
   */
  server: string
  /**
   * The newest revision of each era that the server speaks.
   */
  revisions: string[]
  /**
   * The framings of the run.
   */
  framings: ('lines' | 'headers')[]
  /**
   * The number of tools.
   */
  tools: number
  /**
   * The duration of the whole run in seconds.
   */
  seconds: number
  counts: ContractCounts
  /**
   * The verdicts, one for each case, revision and framing.
   */
  verdicts: ContractVerdict[]
  /**
   * The SDK of the server, if Toolwire recognizes it.
   */
  sdk?: string
  /**
   * The cost of each tool, those with the longest descriptions first.
   */
  costs?: ToolCost[]
  /**
   * The gaps of the baseline that no longer exist.
   */
  outdated: string[]
  /**
   * The seed of the generated arguments, if the run generated any.
   */
  seed?: number
}
/**
 * The number of verdicts by outcome.
 */
export interface ContractCounts {
  /**
   * The server meets the expectations.
   */
  pass: number
  /**
   * The server fails a case of severity `must`.
   */
  fail: number
  /**
   * The server fails a case of severity `should` or `advice`.
   */
  warn: number
  /**
   * The server fails a case that is a known gap of the baseline or of its SDK.
   */
  'known gap': number
  /**
   * The runner cannot play the case with this server.
   */
  'not applicable': number
}
/**
 * The outcome of one case in one revision and framing.
 */
export interface ContractVerdict {
  /**
   * The id of the case.
   */
  case: string
  /**
   * The tested behaviour, in one sentence.
   */
  behaviour: string
  /**
   * The address of the specification of the behaviour.
   */
  source: string
  severity: ContractSeverity
  /**
   * `warn` is a failure whose severity is not `must`; a `known gap` is in the baseline or comes from the SDK.
   */
  outcome: 'pass' | 'fail' | 'warn' | 'known gap' | 'not applicable'
  /**
   * The revision of MCP; absent for JSON-RPC without MCP.
   */
  revision?: string
  /**
   * The framing: `lines` or `headers`.
   */
  framing?: string
  /**
   * The reason why the case is not applicable or the gap is known; or a note about a case that passed.
   */
  reason?: string
  /**
   * The expectation that was not met.
   */
  expected?: string
  /**
   * The messages or events that came instead.
   */
  came?: string
  /**
   * The log of the exchange, to reproduce it: messages to the server (`-> `), messages from the server (`<- `) and events (`-- `).
   */
  exchange?: string[]
  /**
   * The SDK that causes a known gap.
   */
  sdk?: string
  /**
   * True if Toolwire demands more than the source, which is only related.
   */
  ours?: boolean
  /**
   * The cases that ran before this one in the same process, if this case fails only after them.
   */
  after?: string[]
  /**
   * The duration of the case in seconds.
   */
  seconds?: number
}
/**
 * The cost of a tool for a model and for callers. Times and sizes are of successful calls that ran alone during the check, and 0 without such calls.
 */
export interface ToolCost {
  /**
   * The name of the tool.
   */
  name: string
  /**
   * An estimate of the tokens of its name, description and input schema.
   */
  tokens: number
  /**
   * Their count by tiktoken (o200k_base), 0 where it is not installed.
   */
  exact_tokens?: number
  /**
   * The size of its entry in `tools/list`.
   */
  bytes: number
  /**
   * The number of calls measured.
   */
  calls: number
  /**
   * The median duration of a call in seconds.
   */
  seconds: number
  /**
   * The duration of the slowest call in seconds.
   */
  slowest_seconds: number
  /**
   * The median size of a response.
   */
  result_bytes: number
  /**
   * The size of the largest response.
   */
  largest_result_bytes: number
}
/**
 * The rule of a contract case: what it asks, why, an exchange that passes and one that fails, and how to fix a server. Texts are plain English with `code` in backticks.
 */
export interface ContractRule {
  /**
   * The id of the case: an area and a subject.
   */
  id: string
  /**
   * The tested behaviour, in one sentence.
   */
  behaviour: string
  severity: ContractSeverity
  /**
   * The address of the specification of the behaviour.
   */
  source: string
  /**
   * True if Toolwire demands more than the source, which is only related. The default is false.
   */
  ours: boolean
  /**
   * What goes wrong for a client or user if a server does otherwise.
   */
  why: string
  fix: ContractFix
  passing: ContractExchange
  failing: ContractFailure
}
/**
 * How to fix a server that fails.
 */
export interface ContractFix {
  /**
   * For a server made with Toolwire.
   */
  toolwire: string
  /**
   * For a server made with version 2 of the official Python SDK, `mcp`.
   */
  python: string
  /**
   * For a server made with version 2 of the official TypeScript SDK, `@modelcontextprotocol/server`.
   */
  typescript: string
  /**
   * For a server made without an SDK.
   */
  by_hand: string
}
/**
 * An exchange with a server that fails.
 */
export interface ContractFailure {
  /**
   * The unmet expectation.
   */
  expected: string
  /**
   * What came instead.
   */
  came: string
  exchange: ContractExchange
}
/**
 * The parameters of `elicitation/create`: a tool asks the user through the client. Since 2025-06-18; a request of the server until 2025-11-25, a part of `input_required` since 2026-07-28.
 */
export interface ElicitationCreateParams {
  /**
   * The elicitation mode; only forms are described here. Since 2025-11-25; a request without `mode` is a form too.
   */
  mode?: 'form'
  /**
   * The question to show to the user.
   */
  message: string
  requestedSchema: ElicitationForm
  _meta?: Meta
}
/**
 * The schema of the requested fields: a flat object, in a subset of JSON Schema.
 */
export interface ElicitationForm {
  /**
   * The dialect of JSON Schema.
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
   * The names of the required fields.
   */
  required?: string[]
}
/**
 * A text, or one of several choices.
 */
export interface ElicitationTextField {
  type: 'string'
  /**
   * The name to show for the field.
   */
  title?: string
  /**
   * The description of the field to show to the user.
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
   * The names to show for the choices. Until 2025-06-18.
   */
  enumNames?: string[]
  /**
   * The choices, each with a name to show. Since 2025-11-25.
   */
  oneOf?: ElicitationChoice[]
  default?: string
}
/**
 * A choice, and the name to show for it.
 */
export interface ElicitationChoice {
  const: string
  title: string
}
/**
 * A number or an integer.
 */
export interface ElicitationNumberField {
  type: 'number' | 'integer'
  /**
   * The name to show for the field.
   */
  title?: string
  /**
   * The description of the field to show to the user.
   */
  description?: string
  minimum?: number
  maximum?: number
  default?: number
}
/**
 * A boolean.
 */
export interface ElicitationYesOrNoField {
  type: 'boolean'
  /**
   * The name to show for the field.
   */
  title?: string
  /**
   * The description of the field to show to the user.
   */
  description?: string
  default?: boolean
}
/**
 * A selection of several choices. Since 2025-11-25.
 */
export interface ElicitationChoicesField {
  type: 'array'
  /**
   * The name to show for the field.
   */
  title?: string
  /**
   * The description of the field to show to the user.
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
         * The choices, each with a name to show. Since 2025-11-25.
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
   * The action of the user: answered, declined, or closed the form without an answer.
   */
  action: 'accept' | 'decline' | 'cancel'
  /**
   * The values of the fields; present if the user answered.
   */
  content?: {
    [k: string]: string | number | boolean | string[]
  }
  _meta?: Meta
}
/**
 * The parameters of `initialize`, the first request of a client of the revisions 2024-11-05 to 2025-11-25.
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
 * The result of `initialize`: the revision of the connection, and the server's capabilities.
 */
export interface InitializeResult {
  /**
   * The revision that the client requested if the server speaks it, otherwise the newest revision with a handshake that the server speaks.
   */
  protocolVersion: '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25'
  capabilities: ServerCapabilities
  serverInfo: Implementation
  /**
   * Instructions for the model on how to use the tools.
   */
  instructions?: string
  _meta?: Meta
}
/**
 * The capabilities of a server. Only those of a tool server are described.
 */
export interface ServerCapabilities {
  /**
   * The server has tools.
   */
  tools?: {
    /**
     * The server sends a notification when its list of tools changes.
     */
    listChanged?: boolean
  }
  /**
   * The server completes arguments of prompts or URI templates. Since 2025-03-26.
   */
  completions?: {
    [k: string]: unknown
  }
  /**
   * The server sends log messages to clients that request them.
   */
  logging?: {
    [k: string]: unknown
  }
  /**
   * The server has resources.
   */
  resources?: {
    /**
     * The server sends a notification when its list of resources changes.
     */
    listChanged?: boolean
  }
  /**
   * The server has prompts.
   */
  prompts?: {
    /**
     * The server sends a notification when its list of prompts changes.
     */
    listChanged?: boolean
  }
  /**
   * The server makes tasks of requests that ask for it. Only in 2025-11-25.
   */
  tasks?: {
    /**
     * The server has `tasks/list`.
     */
    list?: {
      [k: string]: unknown
    }
    /**
     * The server has `tasks/cancel`.
     */
    cancel?: {
      [k: string]: unknown
    }
    /**
     * The requests that can be tasks.
     */
    requests?: {
      /**
       * Requests about tools.
       */
      tools?: {
        /**
         * `tools/call` can be a task.
         */
        call?: {
          [k: string]: unknown
        }
      }
    }
  }
  /**
   * The extensions of MCP that the server supports, by their names. Since 2026-07-28.
   */
  extensions?: {
    /**
     * The server may answer a call with a task.
     */
    'io.modelcontextprotocol/tasks'?: {
      [k: string]: unknown
    }
  }
  [k: string]: unknown
}
/**
 * One elicitation.
 */
export interface InputRequest {
  method: 'elicitation/create'
  params: ElicitationCreateParams
}
/**
 * A request: it gets exactly one response, a result or an error with its id. It has no other members: some programs drop a message with additional members, and its sender then waits forever.
 */
export interface JSONRPCRequest {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  id: JSONRPCId
  /**
   * The name of the method, such as `tools/call`. JSON-RPC reserves names that begin with `rpc.`.
   */
  method: string
  /**
   * Arguments of the method: an object (every method of a tool server takes one) or an array.
   */
  params?:
    | {
        [k: string]: unknown
      }
    | unknown[]
}
/**
 * A notification: a message without an id. It never gets a response, not even an error.
 */
export interface JSONRPCNotification {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  /**
   * The name of the method, such as `tools/call`. JSON-RPC reserves names that begin with `rpc.`.
   */
  method: string
  /**
   * Arguments of the method: an object (every method of a tool server takes one) or an array.
   */
  params?:
    | {
        [k: string]: unknown
      }
    | unknown[]
}
/**
 * The response to a request that succeeded. This includes a call whose tool failed: its result has `isError`.
 */
export interface JSONRPCResponse {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  id: JSONRPCId
  /**
   * The result of the method. In MCP it is always an object.
   */
  result: {
    [k: string]: unknown
  }
}
/**
 * The response to a request that failed: it was unreadable or malformed, names an unknown method or tool, or was rejected. (A tool that ran and failed, and arguments that a tool does not accept, give a result with `isError` instead.)
 */
export interface JSONRPCErrorResponse {
  /**
   * The version of JSON-RPC.
   */
  jsonrpc: '2.0'
  /**
   * The id of the request, or null if the server could not read it.
   */
  id: JSONRPCId | null
  error: JSONRPCError
}
/**
 * The error.
 */
export interface JSONRPCError {
  /**
   * The error code. JSON-RPC 2.0: -32700 (not JSON), -32600 (not a request), -32601 (unknown method), -32602 (invalid parameters or unknown tool), -32603 (internal error). LSP: -32800 (cancelled by `$/cancelRequest`). MCP 2026-07-28: -32021 (the client lacks a capability), -32022 (unsupported protocol version). Toolwire: -31001 (too many running requests; retry later), -31002 (the server is shutting down).
   */
  code: number
  /**
   * The error message: one sentence for people.
   */
  message: string
  /**
   * Further data about the error, of any type; for -32022 the revisions.
   */
  data?: unknown
}
/**
 * The data of the error -32022: the revisions of MCP that the server speaks.
 */
export interface UnsupportedProtocolVersion {
  /**
   * The revisions that the server speaks.
   */
  supported: string[]
  /**
   * The revision that the client requested.
   */
  requested: string
}
/**
 * The description of a simple tool that Lagent and Groot show to a model. A parameter may also have keywords of JSON Schema, after its own members, where its type cannot express the constraints.
 */
export interface LagentTool {
  /**
   * The tool's name.
   */
  name: string
  /**
   * A description for the model; empty if the author wrote none.
   */
  description: string
  /**
   * The parameters of the tool.
   */
  parameters: LagentParameter[]
  /**
   * The names of the required parameters.
   */
  required: string[]
  /**
   * The parts of the return value, if the author describes them.
   */
  return_data?: LagentReturnedValue[]
  /**
   * Instructions on how to pass the arguments, added by a parser.
   */
  parameter_description?: string
  /**
   * Schemas to which parameters refer.
   */
  $defs?: {
    [k: string]: JSONSchema
  }
}
/**
 * A parameter. If the docstring describes the tool as a whole (`explode_param=False`), it has only a name.
 */
export interface LagentParameter {
  /**
   * The name of the parameter.
   */
  name: string
  /**
   * The type, or a list of types. Lagent has STRING, NUMBER (an integer), FLOAT, BOOLEAN and Array. Toolwire writes OBJECT and ANY where Lagent has no type, and reads these names and those of JSON Schema, in upper or lower case.
   */
  type?: string | string[]
  /**
   * A description of the parameter; may be empty.
   */
  description?: string
  [k: string]: unknown
}
/**
 * A part of a tool's return value.
 */
export interface LagentReturnedValue {
  /**
   * The name, if the part has one.
   */
  name?: string
  /**
   * The type, or a list of types. Lagent has STRING, NUMBER (an integer), FLOAT, BOOLEAN and Array. Toolwire writes OBJECT and ANY where Lagent has no type, and reads these names and those of JSON Schema, in upper or lower case.
   */
  type?: string | string[]
  /**
   * A description of the part.
   */
  description: string
}
/**
 * The description of a tool with several APIs. A model calls an API as `Toolkit.api`.
 */
export interface LagentToolkit {
  /**
   * The toolkit's name.
   */
  name: string
  /**
   * A description for the model; empty if the author wrote none.
   */
  description: string
  /**
   * The APIs of the toolkit.
   */
  api_list: LagentTool[]
}
/**
 * The parameters of `notifications/tools/list_changed` since 2026-07-28: the list of tools has changed.
 */
export interface NotificationsToolsListChangedParams20260728 {
  _meta: SubscriptionMeta
}
/**
 * The subscription to which a message belongs (`_meta`).
 */
export interface SubscriptionMeta {
  /**
   * The id of the `subscriptions/listen` request.
   */
  'io.modelcontextprotocol/subscriptionId': JSONRPCId
  [k: string]: unknown
}
/**
 * The parameters of `logging/setLevel`: the client requests the log messages of tools. Until 2025-11-25; since 2026-07-28, each request has its level in `_meta`.
 */
export interface LoggingSetLevelParams {
  /**
   * The least severe level to send.
   */
  level: LogLevel
  _meta?: Meta
}
/**
 * A host's configuration file for MCP servers: Claude Desktop, Claude Code, Cursor and others (`mcpServers`), VS Code (`servers`). The file may contain other settings.
 */
export interface McpServersFile {
  mcpServers?: ServerTable
  servers?: ServerTable
  /**
   * The values for which VS Code asks the user before it starts a server.
   */
  inputs?: VSCodeInput[]
}
/**
 * The servers, by the host's names for them.
 */
export interface ServerTable {
  [k: string]: StartedServer | RemoteServer
}
/**
 * A server that the host starts and uses over standard input and output. The host replaces these variables in all strings: `${NAME}` and `${NAME:-default}`, `${env:NAME}`, `${input:ID}`, `${userHome}`, `${workspaceFolder}`.
 */
export interface StartedServer {
  /**
   * The transport. VS Code requires this property.
   */
  type?: 'stdio'
  /**
   * The program to start.
   */
  command: string
  /**
   * The arguments of the program.
   */
  args?: string[]
  /**
   * Environment variables in addition to the usual ones; null removes a variable.
   */
  env?: {
    [k: string]: string | null
  }
  /**
   * A file with environment variables, one `NAME=value` in each line.
   */
  envFile?: string
  /**
   * The working directory.
   */
  cwd?: string
  /**
   * The host does not start the server.
   */
  disabled?: boolean
  /**
   * The host starts the server; true by default.
   */
  enabled?: boolean
}
/**
 * A server that is reached over the network; Toolwire's client ignores it.
 */
export interface RemoteServer {
  /**
   * The address of the server.
   */
  url: string
  /**
   * The transport.
   */
  type?: 'http' | 'sse' | 'streamable-http'
  /**
   * HTTP headers for every request.
   */
  headers?: {
    [k: string]: string
  }
}
/**
 * A value for which VS Code asks the user.
 */
export interface VSCodeInput {
  /**
   * The id of the value, for `${input:id}`.
   */
  id: string
  /**
   * The kind of prompt, such as `promptString`.
   */
  type: string
  /**
   * The text of the prompt.
   */
  description?: string
  /**
   * Hides the value while the user types it.
   */
  password?: boolean
}
/**
 * The parameters of `notifications/message`: a log message of a tool, for a client that requested its level. None follows the response to the call.
 */
export interface NotificationsMessageParams {
  /**
   * The severity of the message.
   */
  level: LogLevel
  /**
   * The source of the message; by default, the name of the tool.
   */
  logger?: string
  /**
   * The message: text, or an object of the text (`message`) and the fields that the tool adds.
   */
  data: unknown
  _meta?: Meta
}
/**
 * The parameters of methods that need none: `ping`, `notifications/initialized`, and `notifications/tools/list_changed` before 2026-07-28. They may be omitted.
 */
export interface NoParams {
  _meta?: RequestMeta
}
/**
 * The parameters of `tools/list`. They may be omitted.
 */
export interface ToolsListParams {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta?: RequestMeta
}
/**
 * The parameters of `tools/call`.
 */
export interface ToolsCallParams {
  /**
   * The name of the tool.
   */
  name: string
  /**
   * The arguments, by name, as the tool's `inputSchema` requires; default: no arguments.
   */
  arguments?: {
    [k: string]: unknown
  }
  /**
   * Asks for a task in place of the result, if the tool supports it. Only in 2025-11-25.
   */
  task?: {
    /**
     * How long the server shall keep the task, in milliseconds.
     */
    ttl?: number
  }
  _meta?: RequestMeta
}
/**
 * The parameters of `resources/list`. They may be omitted.
 */
export interface ResourcesListParams {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta?: RequestMeta
}
/**
 * The parameters of `resources/templates/list`. They may be omitted.
 */
export interface ResourcesTemplatesListParams {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta?: RequestMeta
}
/**
 * The parameters of `resources/read`.
 */
export interface ResourcesReadParams {
  /**
   * The URI of the resource.
   */
  uri: string
  _meta?: RequestMeta
}
/**
 * The parameters of `prompts/list`. They may be omitted.
 */
export interface PromptsListParams {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta?: RequestMeta
}
/**
 * The parameters of `prompts/get`.
 */
export interface PromptsGetParams {
  /**
   * The name of the prompt.
   */
  name: string
  /**
   * The arguments, by name, as texts; default: no arguments.
   */
  arguments?: {
    [k: string]: string
  }
  _meta?: RequestMeta
}
/**
 * The result of `ping` and `logging/setLevel`: an empty object. Some clients accept nothing else. Until 2025-11-25.
 */
export interface PingResult {
  _meta?: Meta
}
/**
 * The result of `tools/list`: a page of the tools, or all of them.
 */
export interface ToolsListResult {
  /**
   * The tools, in a stable order.
   */
  tools: Tool[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
  _meta?: Meta
}
/**
 * A tool, as an entry of `tools/list` describes it. A server sends the same entry to clients of all revisions; older clients ignore members that their revision does not have.
 */
export interface Tool {
  /**
   * The unique name of the tool in the list. Many model APIs accept only letters, digits, `_` and `-`, at most 64 characters.
   */
  name: string
  /**
   * The name to show to users. Since 2025-06-18.
   */
  title?: string
  /**
   * The description by which a model chooses the tool.
   */
  description?: string
  /**
   * The schema of the arguments: an object schema, since arguments have names.
   */
  inputSchema: SchemaOfObject
  /**
   * The schema of `structuredContent`. A tool with this schema returns `structuredContent` from every successful call. Since 2025-06-18.
   */
  outputSchema?: SchemaOfObject
  annotations?: ToolAnnotations
  /**
   * Icons to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
  /**
   * How calls of the tool run. Only in 2025-11-25.
   */
  execution?: {
    /**
     * Whether a call may, or must, ask for a task; by default it may not.
     */
    taskSupport?: 'forbidden' | 'optional' | 'required'
  }
  _meta?: Meta
}
/**
 * Hints about a tool's behaviour, for the decision whether it may run. They are not guarantees. A missing hint has its default, which is the cautious one. Since 2025-03-26.
 */
export interface ToolAnnotations {
  /**
   * The name to show to users, for clients from before 2025-06-18.
   */
  title?: string
  /**
   * The tool does not modify anything.
   */
  readOnlyHint?: boolean
  /**
   * The tool may delete or overwrite data; meaningless for a read-only tool.
   */
  destructiveHint?: boolean
  /**
   * Another call with the same arguments has no further effect; meaningless for a read-only tool.
   */
  idempotentHint?: boolean
  /**
   * The tool interacts with the outside world, such as the web, and not only with data of the server.
   */
  openWorldHint?: boolean
}
/**
 * The result of `tools/call`, whether the tool succeeded or failed. Arguments that the tool does not accept are a failure too, so that a model can read the error and try again.
 */
export interface ToolsCallResult {
  /**
   * The result for models and people. It includes structured content as JSON text.
   */
  content: ContentBlock[]
  /**
   * The result for programs, which fits the tool's `outputSchema`. Absent if the tool failed. Since 2025-06-18.
   */
  structuredContent?: {
    [k: string]: unknown
  }
  /**
   * True if the tool failed; the content states the reason.
   */
  isError?: boolean
  _meta?: Meta
}
/**
 * The result of `resources/list`: a page of the resources, or all of them.
 */
export interface ResourcesListResult {
  /**
   * The resources, in a stable order.
   */
  resources: Resource[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
  _meta?: Meta
}
/**
 * A resource, as an entry of `resources/list` describes it: something to read under a fixed URI.
 */
export interface Resource {
  /**
   * The URI to read it under.
   */
  uri: string
  /**
   * The name for programs.
   */
  name: string
  /**
   * The name to show to users. Since 2025-06-18.
   */
  title?: string
  /**
   * The description of what it holds.
   */
  description?: string
  /**
   * The media type.
   */
  mimeType?: string
  /**
   * The size in bytes.
   */
  size?: number
  annotations?: ContentAnnotations
  /**
   * Icons to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
  _meta?: Meta
}
/**
 * The result of `resources/templates/list`: a page of the templates, or all of them.
 */
export interface ResourcesTemplatesListResult {
  /**
   * The templates, in a stable order.
   */
  resourceTemplates: ResourceTemplate[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
  _meta?: Meta
}
/**
 * Resources whose URIs follow a template, as an entry of `resources/templates/list` describes them.
 */
export interface ResourceTemplate {
  /**
   * The template of the URIs (RFC 6570), such as `notes://{name}`.
   */
  uriTemplate: string
  /**
   * The name for programs.
   */
  name: string
  /**
   * The name to show to users. Since 2025-06-18.
   */
  title?: string
  /**
   * The description of what they hold.
   */
  description?: string
  /**
   * The media type of all of them.
   */
  mimeType?: string
  annotations?: ContentAnnotations
  /**
   * Icons to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
  _meta?: Meta
}
/**
 * The result of `resources/read`: what the resource holds.
 */
export interface ResourcesReadResult {
  /**
   * The contents; several if the resource consists of several.
   */
  contents: (TextResource | BinaryResource)[]
  _meta?: Meta
}
/**
 * The result of `prompts/list`: a page of the prompts, or all of them.
 */
export interface PromptsListResult {
  /**
   * The prompts, in a stable order.
   */
  prompts: Prompt[]
  /**
   * The cursor of the next page, for the `cursor` of the next request. Absent on the last page.
   */
  nextCursor?: string
  _meta?: Meta
}
/**
 * A prompt, as an entry of `prompts/list` describes it: messages that a user chooses by name.
 */
export interface Prompt {
  /**
   * The unique name of the prompt in the list.
   */
  name: string
  /**
   * The name to show to users. Since 2025-06-18.
   */
  title?: string
  /**
   * The description of its purpose.
   */
  description?: string
  /**
   * The arguments, all of which are texts.
   */
  arguments?: PromptArgument[]
  /**
   * Icons to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
  _meta?: Meta
}
/**
 * An argument of a prompt.
 */
export interface PromptArgument {
  /**
   * The name of the argument.
   */
  name: string
  /**
   * The name to show to users. Since 2025-06-18.
   */
  title?: string
  /**
   * The description of the argument, and how to write a value that is no text.
   */
  description?: string
  /**
   * Whether the prompt needs the argument; default: no.
   */
  required?: boolean
}
/**
 * The result of `prompts/get`: messages for a model.
 */
export interface PromptsGetResult {
  /**
   * The description of the prompt.
   */
  description?: string
  /**
   * The messages, in their order.
   */
  messages: PromptMessage[]
  _meta?: Meta
}
/**
 * A message of a prompt.
 */
export interface PromptMessage {
  /**
   * The author of the message.
   */
  role: 'user' | 'assistant'
  content: ContentBlock
}
/**
 * The parameters of `notifications/progress`: the progress of a call, for the client that sent a `progressToken` with it. No progress follows the response to the call.
 */
export interface NotificationsProgressParams {
  /**
   * The progress token of the call.
   */
  progressToken: JSONRPCId
  /**
   * The progress so far; it increases with each notification.
   */
  progress: number
  /**
   * The total, if it is known.
   */
  total?: number
  /**
   * A description of the current activity. Since 2025-03-26.
   */
  message?: string
  _meta?: Meta
}
/**
 * The parameters of `tasks/get`, which asks for the state of a task. Since 2025-11-25.
 */
export interface TasksGetParams {
  /**
   * The handle of the task.
   */
  taskId: string
  _meta?: RequestMeta
}
/**
 * The parameters of `tasks/result`, which waits for the end of a task and gets its result. Only in 2025-11-25. Since 2025-11-25.
 */
export interface TasksResultParams {
  /**
   * The handle of the task.
   */
  taskId: string
  _meta?: RequestMeta
}
/**
 * The parameters of `tasks/cancel`, which stops a task. Since 2025-11-25.
 */
export interface TasksCancelParams {
  /**
   * The handle of the task.
   */
  taskId: string
  _meta?: RequestMeta
}
/**
 * The parameters of `tasks/list`, which lists the tasks of the client. Only in 2025-11-25.
 */
export interface TasksListParams {
  /**
   * The `nextCursor` of the previous page; without it, the first page.
   */
  cursor?: string
  _meta?: RequestMeta
}
/**
 * The result of a `tools/call` with the parameter `task`: the call goes on as a task. Only in 2025-11-25.
 */
export interface ToolsCallResultATask {
  task: Task
  _meta?: Meta
}
/**
 * The state of a task of 2025-11-25: of a call that outlives its request.
 */
export interface Task {
  /**
   * The handle of the task: whoever knows it can read and cancel the task.
   */
  taskId: string
  /**
   * The state of the task. The last three are final. A tool that reports a failure has `completed`; `failed` means that there is a JSON-RPC error in place of a result.
   */
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  /**
   * What the task does just now, or why it ended, for people and models.
   */
  statusMessage?: string
  /**
   * When the task was made, in ISO 8601.
   */
  createdAt: string
  /**
   * When its status last changed, in ISO 8601.
   */
  lastUpdatedAt: string
  /**
   * How long the server keeps the task after it was made, in milliseconds; null is for ever.
   */
  ttl: number | null
  /**
   * How long a client should wait between two requests for the state, in milliseconds.
   */
  pollInterval?: number
}
/**
 * The result of `tasks/list`.
 */
export interface TasksListResult {
  /**
   * The tasks of this client that the server still keeps.
   */
  tasks: Task[]
  /**
   * Present if there are more tasks: the `cursor` of the next page.
   */
  nextCursor?: string
  _meta?: Meta
}
/**
 * The parameters of `server/discover`, with which a client of 2026-07-28 queries a server's revisions and capabilities. Other requests may be sent before it.
 */
export interface ServerDiscoverParams {
  _meta: RequestMeta20260728
}
/**
 * The parameters of `tools/list` since 2026-07-28.
 */
export interface ToolsListParams20260728 {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta: RequestMeta20260728
}
/**
 * The parameters of `resources/list` since 2026-07-28.
 */
export interface ResourcesListParams20260728 {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta: RequestMeta20260728
}
/**
 * The parameters of `resources/templates/list` since 2026-07-28.
 */
export interface ResourcesTemplatesListParams20260728 {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta: RequestMeta20260728
}
/**
 * The parameters of `prompts/list` since 2026-07-28.
 */
export interface PromptsListParams20260728 {
  /**
   * The `nextCursor` of the previous page; omitted for the first page.
   */
  cursor?: string
  _meta: RequestMeta20260728
}
/**
 * The parameters of `subscriptions/listen`, with which a client of 2026-07-28 subscribes to changes. The request stays open until the client cancels it or the server exits.
 */
export interface SubscriptionsListenParams {
  notifications: Subscriptions
  _meta: RequestMeta20260728
}
/**
 * The kinds of notifications. Those that the server does not deliver are missing from its acknowledgement.
 */
export interface Subscriptions {
  /**
   * Notifications about changes of the tool list.
   */
  toolsListChanged?: boolean
  /**
   * Notifications about changes of the list of resources.
   */
  resourcesListChanged?: boolean
  /**
   * Notifications about changes of the list of prompts.
   */
  promptsListChanged?: boolean
  /**
   * Notifications about changes of the resources with these URIs.
   */
  resourceSubscriptions?: string[]
  /**
   * Notifications about the tasks with these handles.
   */
  taskIds?: string[]
}
/**
 * The parameters of `tasks/update`, with which a client of 2026-07-28 answers elicitations of a task. Answers that no elicitation waits for are ignored.
 */
export interface TasksUpdateParams {
  /**
   * The handle of the task.
   */
  taskId: string
  /**
   * The user's answers, by the names of the elicitations.
   */
  inputResponses: {
    [k: string]: ElicitationCreateResult
  }
  _meta: RequestMeta20260728
}
/**
 * A tool, as an entry of `tools/list` describes it since 2026-07-28: its `structuredContent` may have any type, and so may its output schema.
 */
export interface Tool20260728 {
  /**
   * The unique name of the tool in the list. Many model APIs accept only letters, digits, `_` and `-`, at most 64 characters.
   */
  name: string
  /**
   * The name to show to users. Since 2025-06-18.
   */
  title?: string
  /**
   * The description by which a model chooses the tool.
   */
  description?: string
  /**
   * The schema of the arguments: an object schema, since arguments have names.
   */
  inputSchema: SchemaOfObject
  /**
   * The schema of `structuredContent`. A tool with this schema returns `structuredContent` from every successful call.
   */
  outputSchema?: JSONSchema
  annotations?: ToolAnnotations
  /**
   * Icons to choose from. Since 2025-11-25.
   */
  icons?: Icon[]
  _meta?: Meta
}
/**
 * The state of a task of the extension `io.modelcontextprotocol/tasks`: of a call that outlives its request.
 */
export interface Task20260728 {
  /**
   * The handle of the task: whoever knows it can read and cancel the task.
   */
  taskId: string
  /**
   * The state of the task. The last three are final. A tool that reports a failure has `completed`; `failed` means that there is a JSON-RPC error in place of a result.
   */
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'
  /**
   * What the task does just now, or why it ended, for people and models.
   */
  statusMessage?: string
  /**
   * When the task was made, in ISO 8601.
   */
  createdAt: string
  /**
   * When its status last changed, in ISO 8601.
   */
  lastUpdatedAt: string
  /**
   * How long the server keeps the task after it was made, in milliseconds; null is for ever.
   */
  ttlMs: number | null
  /**
   * How long a client should wait between two requests for the state, in milliseconds.
   */
  pollIntervalMs?: number
}
/**
 * A task without more to say.
 */
export interface WorkingOrCancelledTask20260728 {
  /**
   * The state.
   */
  status: 'working' | 'cancelled'
}
/**
 * A task that waits for the user.
 */
export interface TaskThatRequiresInput20260728 {
  status: 'input_required'
  /**
   * The elicitations, by name; the answers have the same names.
   */
  inputRequests: {
    [k: string]: InputRequest1
  }
}
/**
 * One elicitation.
 */
export interface InputRequest1 {
  method: 'elicitation/create'
  params: ElicitationCreateParams
}
/**
 * A task with the result of its call.
 */
export interface CompletedTask20260728 {
  status: 'completed'
  result: CompleteToolsCallResult20260728
}
/**
 * A task whose call has a JSON-RPC error in place of a result.
 */
export interface FailedTask20260728 {
  status: 'failed'
  error: JSONRPCError
}
/**
 * The parameters of `notifications/subscriptions/acknowledged`, which the server sends at once: the kinds of notifications that the subscription will deliver.
 */
export interface NotificationsSubscriptionsAcknowledgedParams {
  notifications: Subscriptions
  _meta: SubscriptionMeta
}
/**
 * The result of `tasks/update` and `tasks/cancel` since 2026-07-28: what it changes, the next `tasks/get` shows.
 */
export interface AcknowledgementOfATasksRequest {
  /**
   * It is a complete result.
   */
  resultType: 'complete'
  _meta?: Meta & {
    'io.modelcontextprotocol/serverInfo'?: Implementation
  }
}
/**
 * A function for the chat completions API.
 */
export interface OpenAIChatFunction {
  type: 'function'
  function: OpenAIFunctionDefinition
}
/**
 * The members that both forms have.
 */
export interface OpenAIFunctionDefinition {
  /**
   * The function's name.
   */
  name: string
  /**
   * A description of the function for the model.
   */
  description?: string
  /**
   * The schema of the arguments: an object schema, with `properties` even if it has none.
   */
  parameters: SchemaOfObject & {
    /**
     * The schemas of the parameters, by name.
     */
    properties: {
      [k: string]: unknown
    }
  }
  /**
   * Arguments fit the schema exactly. Every property is then required, and no other properties are allowed.
   */
  strict?: boolean
}
/**
 * The user's question.
 */
export interface ReActQuestion {
  type: 'QUESTION'
  /**
   * The text of the question.
   */
  content: string
}
/**
 * The result of the action that the model requested.
 */
export interface ReActActionResult {
  type: 'ACTION_RESULT'
  /**
   * Whether the action succeeded.
   */
  success?: boolean
  /**
   * Another name of `success`, for programs that read it; both may be present.
   */
  ok?: boolean
  /**
   * The tool's result or the error: any JSON value. It is data, not instructions.
   */
  result: unknown
  /**
   * A remark of the assistant about the result, for example that it was truncated.
   */
  note?: string
}
/**
 * The user's answer to an `ASK`.
 */
export interface ReActUserResponse {
  type: 'USER_RESPONSE'
  /**
   * The text of the answer.
   */
  content: string
}
/**
 * The reply was invalid, and the model has to reply again.
 */
export interface ReActError {
  type: 'ERROR'
  /**
   * The error, and how to correct it.
   */
  msg: string
}
/**
 * The model asks the user a question.
 */
export interface ReActAsk {
  /**
   * The reasoning of the model. It comes first, so that the model reasons before it decides. It is never shown to the user.
   */
  thought: string
  type: 'ASK'
  /**
   * The question, with all that the user needs to answer it.
   */
  content: string
}
/**
 * The model requests one tool call.
 */
export interface ReActAction {
  /**
   * The reasoning of the model. It comes first, so that the model reasons before it decides. It is never shown to the user.
   */
  thought: string
  type: 'ACTION'
  /**
   * The name of a tool that was described to the model.
   */
  tool: string
  /**
   * The arguments, by name, as the tool's schema requires.
   */
  params: {
    [k: string]: unknown
  }
}
/**
 * The final answer of the model.
 */
export interface ReActFinalAnswer {
  /**
   * The reasoning of the model. It comes first, so that the model reasons before it decides. It is never shown to the user.
   */
  thought: string
  type: 'FINAL_ANSWER'
  /**
   * True if the model found an answer; false if the tools cannot do what the user asked for.
   */
  ok: boolean
  /**
   * The complete answer, or the reason why there is none.
   */
  result: string
}
/**
 * The server was started: at the beginning, and again after a crash.
 */
export interface ServerStartedEntry {
  type: 'Started'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at: string
  /**
   * The version of this format.
   */
  version: 1
  /**
   * The words of the command, without the values of options.
   */
  command: string[]
  /**
   * The names of the server's environment variables.
   */
  environment?: string[]
  /**
   * How to copy the recording without what was sent, in words.
   */
  note?: string
}
/**
 * A message between client and server, or a batch of them.
 */
export interface MessageEntry {
  type: 'Message'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at: string
  /**
   * The sender of the message.
   */
  sender: 'client' | 'server'
  /**
   * The message, with all its members.
   */
  message:
    | {
        [k: string]: unknown
      }
    | unknown[]
}
/**
 * A line of the server's output that is no message, or a message over the limit of its size.
 */
export interface NoiseEntry {
  type: 'Noise'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at: string
  /**
   * The beginning of the line.
   */
  text: string
}
/**
 * The recording reached the limit of its size. It is the last entry of the file.
 */
export interface CutEntry {
  type: 'Cut'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at: string
  /**
   * The limit.
   */
  max_bytes: number
}
/**
 * The server ended, or closed its output.
 */
export interface ServerEndedEntry {
  type: 'Ended'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at: string
  /**
   * How it ended, in words.
   */
  reason: string
  /**
   * The last lines that it wrote to its stderr.
   */
  stderr: string
}
/**
 * The file `.toolwire/calls.json`: calls that the page of `toolwire inspect` has saved by name, which `toolwire call --saved` makes again and `toolwire check --saved` uses.
 */
export interface SavedCalls {
  /**
   * The version of this format; default: 1.
   */
  version?: 1
  /**
   * The calls by their names.
   */
  calls: {
    [k: string]: SavedCall
  }
}
/**
 * A call of one tool, without its result.
 */
export interface SavedCall {
  /**
   * The name of the tool, as `tools/list` has it.
   */
  tool: string
  /**
   * The arguments of the call.
   */
  arguments: {
    [k: string]: unknown
  }
  /**
   * The target of the server, as `toolwire serve` takes it; absent for another program.
   */
  target?: string
  /**
   * The program and the arguments that start the server; absent with a target.
   */
  command?: string[]
}
/**
 * The output of `toolwire diff --json`: the changes between two lists of tools, and whom they break.
 */
export interface ToolChanges {
  /**
   * The version step that all changes require together, by SemVer: the most severe of their levels, or `none`.
   */
  verdict: 'none' | 'patch' | 'minor' | 'unknown' | 'major'
  /**
   * The old list.
   */
  old: ComparedList
  /**
   * The new list.
   */
  new: ComparedList
  /**
   * The changes, most severe first, and within a level in the order of the tools. After 100 changes of one tool with the same level and concerns, further changes are only counted.
   */
  changes: ToolChange[]
}
/**
 * The source of a list of tools, and its length.
 */
export interface ComparedList {
  /**
   * The source as given on the command line; `-` is standard input.
   */
  name: string
  /**
   * The kind of the source: a file with a list, a target that Toolwire serves, or the command of a server.
   */
  kind: 'saved' | 'target' | 'command'
  /**
   * The number of tools.
   */
  tools: number
}
/**
 * One change of a tool, or of the list.
 */
export interface ToolChange {
  /**
   * The name of the tool; empty for a change of the list.
   */
  tool: string
  /**
   * The place in the tool: a path below `arguments` or `result`, with `[]` for all items and `.*` for properties of any name, or a member of the tool's description; empty for the whole tool.
   */
  place: string
  /**
   * The kind of change. `narrowed` accepts or returns fewer values than before, `widened` more, and `changed` both; `undecided` means that this is partly unknown. `more-changes` has the `count` of further changes.
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
   * The version step that this change requires alone: `major` breaks users, `unknown` may break them, `minor` and `patch` do not.
   */
  level: 'patch' | 'minor' | 'unknown' | 'major'
  /**
   * The affected party: `callers` send arguments, `readers` receive results, `approval` relies on the tool's hints, `models` choose tools by names and descriptions, `people` see titles and icons.
   */
  concerns: 'callers' | 'readers' | 'approval' | 'models' | 'people'
  /**
   * The change, in words for people.
   */
  text: string
  /**
   * A value that shows the change: for callers, one that was accepted here and no longer is; for readers, one that may be returned now and was not before. If a property became required or optional, the value is the object that contains it. Present only if the level is `major` and such a value is known.
   */
  example?: unknown
  /**
   * The number of further changes; only for `more-changes`.
   */
  count?: number
}
/**
 * A tool: how a model chooses it, its instructions, its parameters, and what runs it. It has `name` and `description`, or `use_guide` in their place. A tool without `command`, `function` and `executor` is run by the executor that is registered under its name.
 */
export interface ToolLibraryEntry {
  /**
   * The name of the tool: printable characters without space, `<`, `>` and `/`.
   */
  name?: string
  /**
   * The purpose of the tool, for the model that chooses it.
   */
  description?: string
  use_guide?: ToolLibraryUseGuide
  use_prompt?: ToolLibraryUsePrompt
  /**
   * The parameters: a mapping of names, or a list. Without `parameters` and `input_schema` the tool takes one string, `instruction`; a command that does not use it takes nothing.
   */
  parameters?:
    | {
        [k: string]: ToolLibraryParameter | string | null
      }
    | ToolLibraryNamedParameter[]
  /**
   * The names of the required parameters; default: those without a default value.
   */
  required?: string[]
  /**
   * The JSON Schema of the arguments.
   */
  input_schema?: SchemaOfObject
  /**
   * What runs the tool: a list of words, or with `shell: true` a script.
   */
  command?: ToolLibraryCommandLine | ToolLibraryScript
  /**
   * The command is a text, which the shell `sh` runs.
   */
  shell?: boolean
  /**
   * The Python function that runs the tool, as `module:function`.
   */
  function?: string
  /**
   * The registered executor that runs the tool: its name, or `module:NAME`.
   */
  executor?: string
  /**
   * The standard input of the command, with placeholders.
   */
  stdin?: string | number
  /**
   * Environment variables of the command, with placeholders.
   */
  env?: {
    [k: string]: string | number
  }
  /**
   * The working directory, relative to the directory of the file.
   */
  cwd?: string
  /**
   * The format of the command's output; JSON becomes structured content.
   */
  output?: 'text' | 'json'
  /**
   * The exit statuses of success; default: 0.
   *
   * @minItems 1
   */
  success?: number[]
  /**
   * The size at which the output is truncated: in bytes, or as in `1 MiB`.
   */
  max_output?: string | number
  /**
   * The parameters whose values may begin with `-`, which the program could take for an option.
   */
  allow_leading_dash?: string[]
  /**
   * The name to show to users.
   */
  title?: string
  /**
   * The tool does not modify anything.
   */
  read_only?: boolean
  /**
   * The tool may delete or overwrite data.
   */
  destructive?: boolean
  /**
   * The question that the user has to agree to before each call, with the names of arguments in braces, as in `Really remove {path}?`. Without the user's consent the tool does not run.
   */
  confirm?: string
  /**
   * Another call with the same arguments has no further effect.
   */
  idempotent?: boolean
  /**
   * The tool interacts with the outside world, such as the web.
   */
  open_world?: boolean
  /**
   * The time limit of a call in seconds.
   */
  timeout_seconds?: number
  /**
   * Runs the tool in a separate process: `process` on this machine, another name where the server's option `--run-on` says.
   */
  runs_in?: string
  /**
   * With `false`, the tool runs in a process of the session, not in the one that all sessions of `serve --share` have in common.
   */
  shared?: boolean
  /**
   * The memory that the process may use in addition to what it uses at its start: in bytes, or as in `256 MiB`.
   */
  memory_limit?: string | number
  /**
   * Tags for the selection of tools.
   */
  tags?: string[]
  /**
   * Icons to choose from.
   */
  icons?: Icon[]
  /**
   * The JSON Schema of the structured content.
   */
  output_schema?: JSONSchema & {
    [k: string]: unknown
  }
  /**
   * The size of a result, instead of the server's limit: in bytes, or as in `64 KiB`.
   */
  max_result_bytes?: string | number
  /**
   * Whether results have structured content in addition to text.
   */
  structured?: boolean
  meta?: Meta
}
/**
 * The guide by which a model chooses the tool.
 */
export interface ToolLibraryUseGuide {
  /**
   * The name of the tool: printable characters without space, `<`, `>` and `/`. It is used as a tag, in upper or lower case.
   */
  tool_name: string
  /**
   * The purpose of the tool, in a few words.
   */
  description: string
}
/**
 * The prompt for a model that writes the tool's instruction.
 */
export interface ToolLibraryUsePrompt {
  /**
   * The same name as in `use_guide`, in upper or lower case.
   */
  tool_name: string
  /**
   * Directions for writing the instruction.
   */
  tool_prompt?: string | null
  /**
   * The format of the instruction, preferably between `<TOOLNAME>` and `</TOOLNAME>`.
   */
  return_format?: string | null
}
/**
 * The keywords of a parameter: those of JSON Schema, and custom ones that begin with `x-`.
 */
export interface ToolLibraryParameterWords {
  /**
   * The type, in upper or lower case: string, integer, number, boolean, array, object, null; str, int, float, bool, list, dict; or any. A list may name several of the first seven.
   */
  type?: string | string[]
  /**
   * The parameter is required; by default it is if it has no default value.
   */
  required?: boolean
  /**
   * A description of the value.
   */
  description?: string
  /**
   * A title for people.
   */
  title?: string
  /**
   * The default value.
   */
  default?: unknown
  /**
   * The allowed values.
   */
  enum?: unknown[]
  /**
   * The only allowed value.
   */
  const?: unknown
  /**
   * Example values.
   */
  examples?: unknown[]
  /**
   * The value is deprecated.
   */
  deprecated?: boolean
  /**
   * Only the owner of the value changes it.
   */
  readOnly?: boolean
  /**
   * The value is never returned.
   */
  writeOnly?: boolean
  /**
   * The minimum of the number, inclusive.
   */
  minimum?: number
  /**
   * The minimum of the number, exclusive.
   */
  exclusiveMinimum?: number
  /**
   * The maximum of the number, inclusive.
   */
  maximum?: number
  /**
   * The maximum of the number, exclusive.
   */
  exclusiveMaximum?: number
  /**
   * The number is a multiple of this.
   */
  multipleOf?: number
  /**
   * The minimum number of characters of the string.
   */
  minLength?: number
  /**
   * The maximum number of characters of the string.
   */
  maxLength?: number
  /**
   * A regular expression that matches a part of the string.
   */
  pattern?: string
  /**
   * The format of the string, such as `date-time`.
   */
  format?: string
  /**
   * The encoding of bytes as a string, such as `base64`.
   */
  contentEncoding?: string
  /**
   * The media type of the string's contents.
   */
  contentMediaType?: string
  /**
   * The schema of the decoded contents of the string.
   */
  contentSchema?: JSONSchema
  /**
   * The schema of all items, or of all items after `prefixItems`.
   */
  items?: JSONSchema
  /**
   * The schemas of the first items, by position.
   *
   * @minItems 1
   */
  prefixItems?: JSONSchema[]
  /**
   * A schema that at least one item fits.
   */
  contains?: JSONSchema
  /**
   * The minimum number of items.
   */
  minItems?: number
  /**
   * The maximum number of items.
   */
  maxItems?: number
  /**
   * All items are different.
   */
  uniqueItems?: boolean
  /**
   * The minimum number of items that fit `contains`.
   */
  minContains?: number
  /**
   * The maximum number of items that fit `contains`.
   */
  maxContains?: number
  /**
   * The schema of every item that no other keyword evaluates.
   */
  unevaluatedItems?: JSONSchema
  /**
   * The schemas of properties, by name.
   */
  properties?: {
    [k: string]: JSONSchema
  }
  /**
   * The schemas of properties whose names match a regular expression.
   */
  patternProperties?: {
    [k: string]: JSONSchema
  }
  /**
   * The schema of all other properties.
   */
  additionalProperties?: JSONSchema
  /**
   * The schema of all property names.
   */
  propertyNames?: JSONSchema
  /**
   * The schema of every property that no other keyword evaluates.
   */
  unevaluatedProperties?: JSONSchema
  /**
   * The minimum number of properties.
   */
  minProperties?: number
  /**
   * The maximum number of properties.
   */
  maxProperties?: number
  /**
   * The names of the properties that are required if a certain property is present.
   */
  dependentRequired?: {
    [k: string]: string[]
  }
  /**
   * The schemas that apply to the object if a certain property is present.
   */
  dependentSchemas?: {
    [k: string]: JSONSchema
  }
  /**
   * The value fits all of these schemas.
   *
   * @minItems 1
   */
  allOf?: JSONSchema[]
  /**
   * The value fits at least one of these schemas.
   *
   * @minItems 1
   */
  anyOf?: JSONSchema[]
  /**
   * The value fits exactly one of these schemas.
   *
   * @minItems 1
   */
  oneOf?: JSONSchema[]
  /**
   * The value does not fit this schema.
   */
  not?: JSONSchema
  /**
   * A condition: the value fits this schema.
   */
  if?: JSONSchema
  /**
   * The schema that applies if the value fits `if`.
   */
  then?: JSONSchema
  /**
   * The schema that applies if the value does not fit `if`.
   */
  else?: JSONSchema
  /**
   * Schemas for references.
   */
  $defs?: {
    [k: string]: JSONSchema
  }
  /**
   * The former name of `$defs`.
   */
  definitions?: {
    [k: string]: JSONSchema
  }
  /**
   * A comment for maintainers of the schema.
   */
  $comment?: string
  [k: string]: unknown
}
/**
 * The file that `toolwire lock` writes: what a model reads of a server, as a person has approved it. `toolwire wrap --lock` shows these texts, and refuses entries that behave differently.
 */
export interface ToolsLock {
  /**
   * The version of this format.
   */
  version: 2
  /**
   * The entries of `tools/list`, in the order of their names. Members that are null are left out, whole numbers have no fraction, and `required` and lists of types are sorted.
   */
  tools: LockedTool[]
  /**
   * The entries of `prompts/list`, in the order of their names; absent without any.
   */
  prompts?: LockedPrompt[]
  /**
   * The entries of `resources/list`, in the order of their URIs; absent without any.
   */
  resources?: LockedResource[]
  /**
   * The entries of `resources/templates/list`, in the order of their templates; absent without any.
   */
  resourceTemplates?: LockedResourceTemplate[]
  /**
   * The instructions of the server; absent without any.
   */
  instructions?: string
  /**
   * The mounted server of each resource and resource template, by its URI or template; absent without any.
   */
  servers?: {
    [k: string]: string
  }
}
/**
 * An entry of `tools/list`, as the server sent it: it may have members that MCP does not know, and may be wrong.
 */
export interface LockedTool {
  /**
   * The name of the tool.
   */
  name: string
}
/**
 * An entry of `prompts/list`, as the server sent it.
 */
export interface LockedPrompt {
  /**
   * The name of the prompt.
   */
  name: string
}
/**
 * An entry of `resources/list`, as the server sent it.
 */
export interface LockedResource {
  /**
   * The URI of the resource.
   */
  uri: string
}
/**
 * An entry of `resources/templates/list`, as the server sent it.
 */
export interface LockedResourceTemplate {
  /**
   * The template of the URIs.
   */
  uriTemplate: string
}
/**
 * An exchange started. The following events, up to the next of this kind, belong to it.
 */
export interface StartedEvent {
  type: 'Started'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The version of the event format.
   */
  version?: 1
  /**
   * The name of the model: the one that `--model` accepts, if there is one.
   */
  model?: string
  /**
   * The protocol between assistant and model, and its language.
   */
  protocol?: string
  /**
   * The instructions that were added to the protocol's prompt.
   */
  instructions?: string
  /**
   * Where a fork comes from. The model, protocol and instructions are those with which it goes on.
   */
  fork_of?: OriginOfAFork | null
  /**
   * The size of the model's context in tokens, if it is known: longer histories are trimmed to it.
   */
  context_tokens?: number | null
  /**
   * Reasons why the model may not work with this protocol.
   */
  warnings?: string[]
}
/**
 * Where a fork comes from: its first events are a copy of those of another transcript.
 */
export interface OriginOfAFork {
  /**
   * The number of events, this one included, that are copied from the other transcript.
   */
  events: number
  /**
   * The file of the other transcript, as it was named.
   */
  transcript?: string | null
  /**
   * The last of its lines that was copied.
   */
  line?: number | null
}
/**
 * An exchange was resumed, perhaps by another process.
 */
export interface ResumedEvent {
  type: 'Resumed'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
}
/**
 * The tools that the model knows from this event on.
 */
export interface ToolsListedEvent {
  type: 'ToolsListed'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The entries of the tools, as in `tools/list`.
   */
  tools: ToldTool[]
  /**
   * The sources that failed to list their tools, each with the reason.
   */
  missing?: {
    [k: string]: string
  }
  /**
   * The tools that may be called without approval, by name, with the reason: `function` for a function of the agent's own process, `hints` if the server's hints about its tools are trusted.
   */
  trust?: {
    [k: string]: 'function' | 'hints'
  }
  /**
   * The names of the tools in the model's list, if it finds the others by a search; empty if it gets all.
   */
  shown?: string[]
  /**
   * The name of the tool by which the model calls the tools that it has found; empty if it gets all.
   */
  call_tool?: string
}
/**
 * An entry of `tools/list`, exactly as the server sent it.
 */
export interface ToldTool {
  /**
   * The name that the model uses for the tool.
   */
  name: string
}
/**
 * The user's question.
 */
export interface QuestionAskedEvent {
  type: 'QuestionAsked'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The text of the user.
   */
  content: string
  /**
   * The JSON Schema that the result of the final answer has to fit; null if it is any text.
   */
  result_schema?: {
    [k: string]: unknown
  } | null
}
/**
 * A request was sent to the model.
 */
export interface ModelAskedEvent {
  type: 'ModelAsked'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The number of messages of the previous request, from the first on, that are sent again.
   */
  kept: number
  /**
   * The messages that follow them.
   */
  messages: ModelMessage[]
}
/**
 * A message to a model, in the format of OpenAI's chat completions.
 */
export interface ModelMessage {
  /**
   * The role of the sender: `system`, `user`, `assistant` or `tool`.
   */
  role: string
  /**
   * The text of the message.
   */
  content?: string | null
  /**
   * The tool calls that the assistant requested, in the vendor's native format.
   */
  tool_calls?: {
    [k: string]: unknown
  }[]
  /**
   * The id of the call whose result this is.
   */
  tool_call_id?: string
  /**
   * Parts of the vendor's reply that it requires in later requests, unparsed.
   */
  echo?: {
    [k: string]: unknown
  }
}
/**
 * The model replied. The next event is the consequence.
 */
export interface ModelRepliedEvent {
  type: 'ModelReplied'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  reply: ModelReply
}
/**
 * One reply of a model.
 */
export interface ModelReply {
  /**
   * The text of the reply, without reasoning.
   */
  text?: string
  /**
   * The tool calls that the model requested, in the vendor's native format.
   */
  tool_calls?: ModelToolCall[]
  /**
   * The reason why the model stopped: `stop`, `length`, `tool_calls` or `content_filter`, or another value of the vendor; null if it gave none.
   */
  finish_reason?: string | null
  /**
   * The token usage; null if the vendor reported none.
   */
  usage?: TokenUsage | null
  /**
   * The reasoning of the model, from a separate field or from between tags.
   */
  reasoning?: string
  /**
   * Data that the vendor requires in the next request, unparsed.
   */
  echo?: {
    [k: string]: unknown
  }
}
/**
 * A tool call in a vendor's native format.
 */
export interface ModelToolCall {
  /**
   * The id of the call, to which its result refers.
   */
  id: string
  /**
   * The name of the tool.
   */
  name: string
  /**
   * The arguments as received: a string if the vendor sends a string, which may be invalid JSON.
   */
  arguments:
    | string
    | {
        [k: string]: unknown
      }
}
/**
 * The token usage of one request, or of several together.
 */
export interface TokenUsage {
  /**
   * The number of tokens sent.
   */
  input_tokens?: number
  /**
   * The number of tokens generated.
   */
  output_tokens?: number
  /**
   * The number of sent tokens that the vendor had cached.
   */
  cached_tokens?: number
  /**
   * The number of generated tokens that were reasoning.
   */
  reasoning_tokens?: number
}
/**
 * The model gave no reply.
 */
export interface ModelFailedEvent {
  type: 'ModelFailed'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The reason.
   */
  reason: string
  /**
   * True if the model did not reply within the time limit.
   */
  out_of_time?: boolean
  /**
   * True if the messages do not fit into the model's context.
   */
  too_long?: boolean
}
/**
 * The reply is invalid, or its final answer does not fit the question's schema; the model receives the reason.
 */
export interface ReplyRefusedEvent {
  type: 'ReplyRefused'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The message to the model.
   */
  reason: string
  /**
   * The invalid action; null if the reply contains no readable one.
   */
  action?: ReActAction | null
  /**
   * The beginning of a reply without a readable action, for people.
   */
  said?: string
}
/**
 * The model requested a tool call.
 */
export interface ActionChosenEvent {
  type: 'ActionChosen'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The call, by its number in the reply of the model, from 0.
   */
  call?: number
  /**
   * The reasoning of the model. It is not shown to the user.
   */
  thought: string
  /**
   * The tool, by the name that the model knows.
   */
  tool: string
  /**
   * The arguments, by name.
   */
  params: {
    [k: string]: unknown
  }
  /**
   * Warnings about the reply, in sentences.
   */
  warnings?: string[]
}
/**
 * The call requires the approval of a person.
 */
export interface ApprovalAskedEvent {
  type: 'ApprovalAsked'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The number of a call whose approval is asked for before its turn, while calls before it are open as tasks; null if it is its turn.
   */
  call?: number | null
  /**
   * The tool, by the name that the model knows.
   */
  tool: string
  /**
   * The arguments, by name.
   */
  params: {
    [k: string]: unknown
  }
  /**
   * The reason why approval is necessary.
   */
  reason: string
  /**
   * The call was started before, and its outcome is unknown; if it is allowed, its effects may occur twice.
   */
  interrupted?: boolean
}
/**
 * The call was approved.
 */
export interface ApprovedEvent {
  type: 'Approved'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The number of a call whose approval is asked for before its turn, while calls before it are open as tasks; null if it is its turn.
   */
  call?: number | null
  /**
   * The parameters as changed by the person; null if unchanged.
   */
  params?: {
    [k: string]: unknown
  } | null
}
/**
 * The call was refused.
 */
export interface RefusedEvent {
  type: 'Refused'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The number of a call whose approval is asked for before its turn, while calls before it are open as tasks; null if it is its turn.
   */
  call?: number | null
  /**
   * The message to the model.
   */
  reason: string
  /**
   * True if a person refused the call, false if the settings did.
   */
  by_user?: boolean
}
/**
 * A tool call started. From this event on its effects may have occurred.
 */
export interface CallStartedEvent {
  type: 'CallStarted'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The call, by its number in the reply of the model, from 0.
   */
  call?: number
  /**
   * The tool, by the name that the model knows.
   */
  tool: string
  /**
   * The arguments, by name.
   */
  params: {
    [k: string]: unknown
  }
}
/**
 * The server makes the call a task, which a resumed session finds again.
 */
export interface TaskStartedEvent {
  type: 'TaskStarted'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The call, by its number in the reply of the model, from 0.
   */
  call?: number
  /**
   * The server's id of the task.
   */
  task: string
}
/**
 * The running tool asks the user for input.
 */
export interface ToolAskedEvent {
  type: 'ToolAsked'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The call, by its number in the reply of the model, from 0.
   */
  call?: number
  /**
   * The server's name for the tool; null if the server does not name it, before MCP 2026-07-28.
   */
  tool: string | null
  /**
   * The question.
   */
  message: string
  /**
   * The JSON Schema of the requested input: a flat object.
   */
  form: {
    [k: string]: unknown
  }
}
/**
 * The user's reaction to a tool's question.
 */
export interface FormAnsweredEvent {
  type: 'FormAnswered'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The call, by its number in the reply of the model, from 0.
   */
  call?: number
  /**
   * Whether the user answered, declined, or closed the form.
   */
  action: 'accept' | 'decline' | 'cancel'
  /**
   * The values of the form's fields, by name; empty if there is no answer.
   */
  content?: {
    [k: string]: unknown
  }
}
/**
 * The outcome of the call, as sent to the model.
 */
export interface CallFinishedEvent {
  type: 'CallFinished'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The call, by its number in the reply of the model, from 0.
   */
  call?: number
  /**
   * Whether the call succeeded.
   */
  success: boolean
  /**
   * The result of the tool, truncated if it is long; if the tool failed, the reason.
   */
  result: unknown
  /**
   * A note about the result, for example that it was truncated.
   */
  note?: string
}
/**
 * The model asks the user a question.
 */
export interface UserAskedEvent {
  type: 'UserAsked'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The reasoning of the model. It is not shown to the user.
   */
  thought: string
  /**
   * The question to show to the user.
   */
  content: string
  /**
   * Warnings about the reply, in sentences.
   */
  warnings?: string[]
}
/**
 * The user answered the model's question.
 */
export interface UserAnsweredEvent {
  type: 'UserAnswered'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The answer; null if no user was available.
   */
  content: string | null
}
/**
 * The model is notified that its next reply is the last.
 */
export interface FinalForcedEvent {
  type: 'FinalForced'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The reason, as sent to the model.
   */
  reason: string
  /**
   * The outcome of the run if that reply is not an answer.
   */
  status: 'turn_limit' | 'budget' | 'model_error'
}
/**
 * The run ended.
 */
export interface EndedEvent {
  type: 'Ended'
  /**
   * The time of the event, in ISO 8601 with a time zone: in UTC, and never before that of the event in the previous line.
   */
  at?: string
  /**
   * The outcome. The model itself reports `answered` and `unsolvable`. `needs_input` waits for a person and can be resumed. With `turn_limit` and `budget` the number of replies, or the tokens or the time, did not suffice for an answer. With `model_error` the model gave no reply, or no valid one. `cancelled` was ended from outside.
   */
  status: 'answered' | 'unsolvable' | 'needs_input' | 'turn_limit' | 'budget' | 'model_error' | 'cancelled'
  /**
   * The model's answer, or its statement that there is none; null if the run ended without either.
   */
  result?: string | null
  /**
   * The reason for the outcome, if it needs one.
   */
  reason?: string
  /**
   * The reasoning of the model. It is not shown to the user.
   */
  thought?: string
  /**
   * The number of the model's replies since the question.
   */
  turns?: number
  usage?: TokenUsage
}
