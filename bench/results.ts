import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';

/** The result of a trial: a table, printed or written to bench/RESULTS.md. */
export interface Result {
  title: string;
  head: string[];
  rows: string[][];
  legend: string;
}

const FILE = fileURLToPath(new URL('../../bench/RESULTS.md', import.meta.url));

export function printResult({ title, head, rows, legend }: Result): void {
  const colAligns = head.map((_, i) => (i ? ('right' as const) : ('left' as const)));
  const table = new Table({ head, colAligns, style: { head: [], border: [] } });
  table.push(...rows);
  process.stdout.write(`${title}\n${table.toString()}\n${legend}\n`);
}

/** Writes the result into bench/RESULTS.md, and replaces the section of the same title. */
export function writeResult({ title, head, rows, legend }: Result, command: string): void {
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const section = [
    `## ${title}\n`,
    `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.version}, \`${command}\`\n`,
    row(head),
    row(head.map((_, i) => (i ? '--:' : '---'))),
    ...rows.map(row),
    `\n${legend}\n`,
  ].join('\n');
  const sections = (existsSync(FILE) ? readFileSync(FILE, 'utf8') : '# Results\n').split(/^(?=## )/m);
  const index = sections.findIndex(text => text.startsWith(`## ${title}\n`));
  if (index === -1) sections.push(section);
  else sections[index] = section;
  writeFileSync(FILE, `${sections.map(text => text.trimEnd()).join('\n\n')}\n`);
}
