import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';

/** The writes and flushes of some files by a program, traced with strace. */

export interface Write {
  kind: 'write';
  /** The name of the file. */
  file: string;
  /** Bytes from the start of the file. */
  at: number;
  bytes: Buffer;
  /** The write is on disk when the call ends. */
  isSynchronous: boolean;
}

export interface Flush {
  kind: 'flush';
  file: string;
}

/** The start or the end of a call. Both have the same call object. */
export interface TraceEvent {
  /** Milliseconds since 1970. */
  time: number;
  call: Write | Flush;
  isEnd: boolean;
}

/** Each flush is delayed, so that writes happen between its call and its end. It guarantees only the earlier ones. */
const FLUSH_DELAY_MICROSECONDS = 4000;
const DELAY = ['-e', `inject=fdatasync:delay_enter=${FLUSH_DELAY_MICROSECONDS}`];
const LONGEST_TEXT = 2 ** 26;

/** Returns the command that runs another command and traces its calls on the files. They need not exist yet. */
export function traceCommand(files: readonly string[], trace: string): string[] {
  const calls = 'trace=openat,lseek,write,writev,pwrite64,pwritev,fdatasync,fsync,ftruncate,fallocate';
  return [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-ttt',
    '-T',
    '-xx',
    '-s',
    String(LONGEST_TEXT),
    ...files.flatMap(file => ['-P', file]),
    '-e',
    calls,
    ...DELAY,
    '-o',
    trace,
    '--',
  ];
}

/** Returns why tracing is impossible on this machine, or null if it is possible. */
export function reasonNotTraceable(): string | null {
  const [command, ...args] = [...traceCommand(['/dev/null'], '/dev/null'), process.execPath, '--version'];
  const { error, status, stderr } = spawnSync(command!, args, { encoding: 'utf8' });
  if (error) return 'cannot run strace: install it (Debian, Ubuntu: apt-get install strace); it exists for Linux only';
  if (status !== 0)
    return `strace cannot trace a process: ${stderr.trim()}; in a container add --cap-add=SYS_PTRACE, otherwise install a newer strace`;
  return null;
}

/** Reads a trace line by line, in order. Throws on an unknown call. */
export async function* readTrace(trace: string): AsyncGenerator<TraceEvent> {
  const files = new TracedFiles();
  const pending = new Map<string, Call>();
  for await (const line of linesOf(trace)) {
    const [, thread = '', seconds, resumed, name = '', rest = ''] = LINE.exec(line) ?? [];
    // A signal, or the exit of a thread.
    if (seconds === undefined) continue;
    const time = Number(seconds) * 1000;
    const call = resumed === undefined ? files.begin(name, rest) : pending.get(thread)!;
    if (resumed === undefined && call.traced) yield { time, call: call.traced, isEnd: false };
    pending.set(thread, call);
    const [ended, result, duration] = END.exec(rest) ?? [];
    if (ended === undefined) continue;
    pending.delete(thread);
    files.end(call, Number(result));
    if (call.traced) yield { time: resumed === undefined ? time + Number(duration) * 1000 : time, call: call.traced, isEnd: true };
  }
}

/** "THREAD SECONDS NAME(ARGUMENTS) = RESULT <SECONDS>", in two parts if a line of another thread came in between. */
const LINE = /^(\d+) +([\d.]+) (?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$/s;
const END = / = (-?\d+)(?: [^<]*)? <([\d.]+)>$/;

interface Call {
  name: string;
  args: string;
  /** Null: the call neither writes nor flushes. */
  traced: Write | Flush | null;
}

/** State that the arguments of a call do not show: file and position of each descriptor, and whether it was opened with O_SYNC or O_DSYNC. */
class TracedFiles {
  readonly #names = new Map<string, string>();
  readonly #synchronous = new Set<string>();
  readonly #positions = new Map<string, number>();

  begin(name: string, args: string): Call {
    return { name, args, traced: this.#traced(name, args) };
  }

  end({ name, args, traced }: Call, result: number): void {
    // The file did not exist.
    if (result < 0 && name === 'openat') return;
    if (result < 0) throw new Error(`cannot replay the trace: ${name} failed in the server with ${result}`);
    if (traced?.kind === 'write' && result !== traced.bytes.length)
      throw new Error(`${name} wrote ${result} of ${traced.bytes.length} bytes`);
    if (name === 'openat') {
      const [, path] = /"([^"]*)"/.exec(args)!;
      this.#names.set(String(result), basename(bytesOf(path!).toString()));
      if (/\bO_D?SYNC\b/.test(args)) this.#synchronous.add(String(result));
      else this.#synchronous.delete(String(result));
    }
  }

  #traced(name: string, args: string): Write | Flush | null {
    const descriptor = /^\d+/.exec(args)?.[0] ?? '';
    const file = this.#names.get(descriptor)!;
    const isSynchronous = this.#synchronous.has(descriptor);
    const write = (at: number, bytes: Buffer): Write => ({ kind: 'write', file, at, bytes, isSynchronous });
    switch (name) {
      case 'openat':
        return null;
      case 'fdatasync':
      case 'fsync':
        return { kind: 'flush', file };
      case 'lseek': {
        const position = /^\d+, (\d+), SEEK_SET/.exec(args);
        if (!position) break;
        this.#positions.set(descriptor, Number(position[1]));
        return null;
      }
      case 'writev': {
        const bytes = Buffer.concat(
          [...args.matchAll(/iov_base="([^"]*)", iov_len=(\d+)/g)].map(([, text, length]) => bytesOf(text!, length!)),
        );
        const at = this.#positions.get(descriptor)!;
        this.#positions.set(descriptor, at + bytes.length);
        return write(at, bytes);
      }
      case 'pwrite64': {
        const [, text, length, at] = /^\d+, "([^"]*)", (\d+), (\d+)/.exec(args)!;
        return write(Number(at), bytesOf(text!, length!));
      }
    }
    throw new Error(`cannot read the trace: unknown call ${name}(${args.slice(0, 100)}`);
  }
}

function bytesOf(text: string, length?: string): Buffer {
  const bytes = Buffer.from(text.replaceAll('\\x', ''), 'hex');
  if (length !== undefined && bytes.length !== Number(length))
    throw new Error(`cannot read the trace: a write has ${bytes.length} of ${length} bytes`);
  return bytes;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = '';
  for await (const part of createReadStream(file, { encoding: 'latin1', highWaterMark: 2 ** 20 })) {
    const lines = (rest + (part as string)).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}
