import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type CaseOutcomes, mergeByName } from '../../protocol/case-outcomes.js';
import { hookText } from './hook-text.js';
import type { CaseReport, Piece } from './piece.js';

/*
 * A hook is a file that a test runner loads because of its environment, and so behind any wrapper. Files in its own folder are all that
 * it shares with the client: piece.json is what the client asks for, and each process of the runner writes cases-*.json, which is empty until
 * the process ends.
 */

/** Reports of a hook, by the real path of a file. */
type HookReport = Readonly<Record<string, { listed: readonly string[]; cases: readonly [string, CaseOutcomes, number][] }>>;

/** Puts a hook into an empty folder, with the piece that it is to run; null: it leaves nothing out. Returns the absolute path of the folder. */
export function writeHook(name: Parameters<typeof hookText>[0], piece: Piece | null, folder: string): string {
  const target = resolve(folder);
  writeFileSync(join(target, name), hookText(name));
  const asked = piece && { file: realPath(piece.file), names: piece.others ?? piece.cases, isRest: piece.others !== null };
  writeFileSync(join(target, 'piece.json'), JSON.stringify(asked));
  return target;
}

/** The cases that the processes of one command reported of these files, null: none. Processes that had the same file add up. */
export function readHookReports(files: readonly string[], folder: string): Map<string, CaseReport> | null {
  const reports = reportsIn(folder);
  const byFile = new Map<string, CaseReport>();
  for (const file of files) {
    const path = realPath(file);
    const ofFile = reports.flatMap(byPath => byPath[path] ?? []);
    if (ofFile.length === 0) continue;
    const cases = ofFile.flatMap(({ cases }) => cases.map(([name, outcomes, seconds]) => ({ name, outcomes, seconds })));
    byFile.set(file, { cases: mergeByName(cases), listed: new Set(ofFile.flatMap(({ listed }) => listed)) });
  }
  return byFile.size > 0 ? byFile : null;
}

/** Reads the reports of all processes. Returns none if one of them wrote nothing, as its cases are not known, or if tests removed the files. */
function reportsIn(folder: string): HookReport[] {
  try {
    const names = readdirSync(folder).filter(name => /^cases-.*\.json$/.test(name));
    return names.map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as HookReport);
  } catch {
    return [];
  }
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}
