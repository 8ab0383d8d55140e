/** A server of the Model Context Protocol that has tools only: JSON-RPC, a message a line. */

/** Versions with a handshake, newest first. They differ in nothing that a server of tools does. */
const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** From this one on, each request names its version, and nothing is said before it. */
const STATELESS_VERSION = '2026-07-28';
const VERSIONS: readonly string[] = [STATELESS_VERSION, ...HANDSHAKE_VERSIONS];
const META = 'io.modelcontextprotocol';
/** Time for which a client may reuse an answer, in the newer version. The tools are those of this program: they never change. */
const CACHE = { ttlMs: 3_600_000, cacheScope: 'public' };

const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  unsupportedVersion: -32022,
} as const;

/** The JSON schema of the arguments of a tool. */
export interface InputSchema {
  type: 'object';
  properties: Readonly<Record<string, { description: string; type: string; enum?: readonly string[]; items?: { type: 'string' } }>>;
  required?: readonly string[];
  additionalProperties: false;
}

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: InputSchema;
  /** Returns the text for the model. @throws the text of an error of the tool */
  call(input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string>;
}

export interface ToolServer {
  name: string;
  version: string;
  /** Text for a model before it calls a tool. */
  instructions: string;
  tools: readonly Tool[];
}

type Id = string | number;
interface Message {
  /** Null: a notification, which is not answered. */
  id: Id | null;
  method: string;
  params: Readonly<Record<string, unknown>>;
}

class ProtocolError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

/** Serves tools until there is no line left, and every request but the cancelled ones is answered. @param send sends a message */
export async function serveTools(lines: AsyncIterable<string>, send: (message: object) => void, server: ToolServer): Promise<void> {
  const calls = new Map<Id, AbortController>();
  const answers = new Set<Promise<void>>();
  const answer = async (id: Id, message: Message, call: AbortController) => {
    try {
      const result = await resultOf(message, server, call.signal);
      if (!call.signal.aborted) send({ jsonrpc: '2.0', id, result });
    } catch (error) {
      if (!call.signal.aborted) send(failure(id, error as Error));
    } finally {
      if (calls.get(id) === call) calls.delete(id);
    }
  };
  for await (const line of lines) {
    if (line.trim() === '') continue;
    let message: Message | null;
    try {
      message = messageIn(line);
    } catch (error) {
      send(failure(null, error as Error));
      continue;
    }
    // An answer, and this server asks for nothing.
    if (message === null) continue;
    const { id, method, params } = message;
    if (id === null) {
      if (method === 'notifications/cancelled') calls.get(params.requestId as Id)?.abort();
      continue;
    }
    const call = new AbortController();
    calls.set(id, call);
    const answered: Promise<void> = answer(id, message, call).finally(() => answers.delete(answered));
    answers.add(answered);
  }
  await Promise.all(answers);
}

function messageIn(line: string): Message | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new ProtocolError(codes.parseError, `the line is not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) throw new ProtocolError(codes.invalidRequest, 'a message must be one JSON object');
  const { id = null, method, params = {}, result, error } = value;
  if (method === undefined && (result !== undefined || error !== undefined)) return null;
  const isValid = typeof method === 'string' && isRecord(params) && (id === null || typeof id === 'string' || typeof id === 'number');
  if (!isValid) throw new ProtocolError(codes.invalidRequest, 'a request must have a method, and may have an id and an object of params');
  return { id: id as Id | null, method, params };
}

async function resultOf({ method, params }: Message, server: ToolServer, signal: AbortSignal): Promise<object> {
  const { name, version, instructions, tools } = server;
  const meta = isRecord(params._meta) ? params._meta : {};
  const asked = meta[`${META}/protocolVersion`];
  if (asked !== undefined && asked !== STATELESS_VERSION)
    throw new ProtocolError(codes.unsupportedVersion, 'Unsupported protocol version', { supported: VERSIONS, requested: asked });
  const whole = (result: object, more: object = {}) => (asked === undefined ? result : { resultType: 'complete', ...result, ...more });
  switch (method) {
    case 'initialize': {
      const wanted = HANDSHAKE_VERSIONS.find(each => each === params.protocolVersion) ?? HANDSHAKE_VERSIONS[0];
      return { protocolVersion: wanted, capabilities: { tools: {} }, serverInfo: { name, version }, instructions };
    }
    case 'server/discover': {
      const told = {
        supportedVersions: VERSIONS,
        capabilities: { tools: {} },
        instructions,
        _meta: { [`${META}/serverInfo`]: { name, version } },
      };
      return { resultType: 'complete', ...told, ...CACHE };
    }
    case 'ping':
      return whole({});
    case 'tools/list':
      return whole({ tools: tools.map(({ call: _, ...tool }) => ({ ...tool, annotations: ANNOTATIONS })) }, CACHE);
    case 'tools/call':
      return whole(await called(tools, params, signal));
  }
  throw new ProtocolError(codes.methodNotFound, `this server has no method ${method}: it has tools only`);
}

const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

async function called(tools: readonly Tool[], { name, arguments: input = {} }: Readonly<Record<string, unknown>>, signal: AbortSignal) {
  const tool = tools.find(each => each.name === name);
  if (!tool) {
    const names = tools.map(each => each.name).join(', ');
    throw new ProtocolError(codes.invalidParams, `there is no tool ${JSON.stringify(name)}: the tools are ${names}`);
  }
  // A model can correct what it is told as an answer; errors of the protocol may not reach it.
  const told = (text: string, isError = false) => ({ content: [{ type: 'text', text }], ...(isError && { isError }) });
  const wrong = inputErrors(input, tool.inputSchema);
  if (wrong.length > 0) return told(`${tool.name} was not called: ${wrong.join('; ')}`, true);
  try {
    return told(await tool.call(input as Readonly<Record<string, unknown>>, signal));
  } catch (error) {
    return told((error as Error).message, true);
  }
}

/** Lists the faults of arguments before they are sent. The server of Ballast checks their values. */
function inputErrors(input: unknown, { properties, required = [] }: InputSchema): string[] {
  if (!isRecord(input)) return ['its arguments must be one JSON object'];
  const isGiven = (name: string) => input[name] !== undefined && input[name] !== null && input[name] !== '';
  const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
  const names = Object.keys(properties).join(', ');
  return [
    ...Object.keys(input)
      .filter(name => !Object.hasOwn(properties, name))
      .map(name => `it has no argument ${JSON.stringify(name)}: its arguments are ${names}`),
    ...required.filter(name => !isGiven(name)).map(name => `the argument ${name} is missing: ${properties[name]!.description}`),
    ...Object.entries(input).flatMap(([name, value]) => {
      const type = properties[name]?.type;
      if (type === undefined || !isGiven(name) || isScalar(value)) return [];
      const isList = type === 'array' && Array.isArray(value) && value.every(isScalar);
      return isList ? [] : [`the argument ${name} must be of type ${type}: ${properties[name]!.description}`];
    }),
  ];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function failure(id: Id | null, error: Error): object {
  const { code, data } = error instanceof ProtocolError ? error : { code: codes.internalError, data: undefined };
  return { jsonrpc: '2.0', id, error: { code, message: error.message, ...(data && { data }) } };
}
