/** The command with the files of a batch: `{}` becomes an argument for each, `{,}` within an argument all of them behind commas; without either they are appended. */
export function commandLine(command: readonly string[], files: readonly string[]): string[] {
  // What begins with a dash would be a flag.
  const paths = files.map(path => (path.startsWith('-') ? `./${path}` : path));
  if (!command.some(arg => arg === '{}' || arg.includes('{,}'))) return [...command, ...paths];
  const joined = paths.join(',');
  return command.flatMap(arg => (arg === '{}' ? paths : [arg.replaceAll('{,}', () => joined)]));
}

/** Why the command would not run all files that it is given; null: no reason is known. */
export function commandError(command: readonly string[], files: readonly string[]): string | null {
  const withComma = command.some(arg => arg.includes('{,}')) ? files.find(path => path.includes(',')) : undefined;
  if (withComma !== undefined) return `{,} cannot pass on the test file ${withComma}, because its path has a comma: use {}`;
  const flag = /^(.*\/)?\w*sh$/.test(command[0] ?? '') ? command.findIndex(arg => /^-[a-z]*c$/.test(arg)) : -1;
  const script = command[flag + 1] ?? '';
  const isFirstLost = flag > 0 && commandLine(command, ['\0'])[flag + 2] === '\0' && /\$\{?[@*1]/.test(script) && !/\$\{?0/.test(script);
  return isFirstLost
    ? `the script would get the first test file as $0, and would not run it: put a name before the files, as in ${command[0]} ${command[flag]} '... "$@"' ${command[0]} {}`
    : null;
}

/** Bytes of the paths of one command. Linux takes 131,072 in one argument, which `{,}` makes of them all, and npx of the whole command. */
const MAX_PATH_BYTES = 100_000;

/** The files of a batch in as many parts as it takes commands to run them. */
export function splitByLength<File extends { path: string }>(files: readonly File[], bytes = MAX_PATH_BYTES): File[][] {
  const parts: File[][] = [];
  let room = 0;
  for (const file of files) {
    const size = Buffer.byteLength(file.path) + 1;
    if (size > room) {
      parts.push([]);
      room = bytes;
    }
    parts.at(-1)!.push(file);
    room -= size;
  }
  return parts;
}
