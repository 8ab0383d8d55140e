import { printData } from '../../base/terminal.js';
import { serveTools } from '../../node/mcp/protocol.js';
import { INSTRUCTIONS, toolsOf } from '../../node/mcp/tools.js';
import type { ClientOptions } from './options.js';

/** No tool takes as much. */
const MAX_LINE_CHARACTERS = 2 ** 20;

/** Answers language models on stdin and stdout until stdin ends. Throws when a message is too long. */
export async function mcp(options: Pick<ClientOptions, 'url' | 'token' | 'retries' | 'clientVersion' | 'environment'>): Promise<void> {
  await serveTools(linesOf(process.stdin.setEncoding('utf8')), message => printData(`${JSON.stringify(message)}\n`), {
    name: 'ballast',
    version: options.clientVersion,
    instructions: INSTRUCTIONS,
    tools: toolsOf(options),
  });
}

/** Lines as the protocol has them. Those of node:readline also end at line separators, which JSON may contain. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncIterable<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    if (rest.length > MAX_LINE_CHARACTERS) throw new Error(`a message on stdin has more than ${MAX_LINE_CHARACTERS} characters: give less`);
    yield* lines;
  }
  yield rest;
}
