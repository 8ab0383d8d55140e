import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { printToStderr } from '../../base/terminal.js';
import { limits } from '../../protocol/limits.js';

/** Asks a question at the terminal, on stderr, and resolves with the typed line. Null: nobody can be asked. */
export async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY) return null;
  printToStderr(question);
  // The terminal edits the line, and Ctrl-C ends the process.
  const lines = createInterface({ input: process.stdin, terminal: false });
  for await (const line of lines) return line;
  return '';
}

/** Reads a password: at a terminal it is typed twice and not shown, otherwise it is the first line of stdin. */
export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return firstLine();
  printToStderr(`new password, at least ${limits.passwordMinCharacters} characters (it is not shown):`);
  const password = await typedLine();
  printToStderr('the same again:');
  if ((await typedLine()) !== password) throw new Error('cannot set the password: the two differ');
  return password;
}

async function firstLine(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string;
    // A longer password is refused anyway.
    if (text.includes('\n') || text.length > 2 * limits.passwordMaxCharacters) break;
  }
  return text.split(/\r?\n/)[0]!;
}

function typedLine(): Promise<string> {
  const nothing = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nothing, terminal: true });
  return new Promise((resolve, reject) => {
    terminal.once('line', line => {
      resolve(line);
      terminal.close();
    });
    terminal.once('SIGINT', () => {
      terminal.close();
      process.kill(process.pid, 'SIGINT');
    });
    terminal.once('close', () => reject(new Error('cannot set the password: none was typed')));
  });
}
