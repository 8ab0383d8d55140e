import { createWriteStream, realpathSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fsyncPath } from '../../base/fsync.js';
import { createPartialFile, type PartialFile } from '../../base/partial-file.js';
import { pluralize } from '../../base/plural.js';
import { print, startProgress } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { exportLines } from '../../server/engine/export.js';
import type { Project } from '../../server/engine/ports/access.js';
import type { Store } from '../../server/engine/ports/store.js';
import { isPublicSide, PUBLIC_SUFFIX } from '../../server/engine/public-side/side.js';
import type { StoreSource } from '../../server/store/source.js';
import { withExistingStore } from './with-store.js';

export interface ExportOptions {
  project?: string;
  output?: string;
  builds: boolean;
  timings: boolean;
  json?: true;
}

/** Writes builds and timings as lines of JSON to stdout or to a file, which appears when it is complete. A server may run meanwhile. */
export function exportStore(source: StoreSource, options: ExportOptions, stop: AbortSignal): Promise<void> {
  const { project, builds, timings, json } = options;
  const output = options.output === undefined || options.output === '-' ? null : resolveOutput(options.output);
  if (json && output === null)
    throw new UsageError([
      '--json needs --output, because it describes that file: without --output, stdout gets the export, which is JSON already',
    ]);
  return withExistingStore(source, async store => {
    const projects = await selectProjects(store, project);
    const counts = { builds: 0, timings: 0 };
    const progress = startProgress(output !== null || !process.stdout.isTTY);
    const lines = exportLines(store, { projects, builds, timings }, store.now(), type => {
      counts[`${type}s`] += 1;
      progress.show(() => `${counts.builds.toLocaleString('en')} builds, ${counts.timings.toLocaleString('en')} timings exported`);
    });
    try {
      await (output === null ? toStdout(lines, stop) : toFile(lines, output, stop));
    } finally {
      progress.end();
    }
    if (output === null) return;
    const { size: bytes } = statSync(output);
    const file = options.output!;
    const summary = { file, bytes, projects: projects.map(({ name }) => name), ...counts };
    if (json) print(JSON.stringify(summary));
    else
      print(
        `${file}: ${pluralize(counts.builds, 'build')} and ${pluralize(counts.timings, 'timing')} of ${projects.length === 1 ? `the project ${projects[0]!.name}` : `${projects.length} projects`}, ${bytes} bytes`,
      );
  });
}

/** Follows links. Throws if the output is not a regular file, such as a device: it could not be replaced. */
function resolveOutput(output: string): string {
  const stats = statSync(output, { throwIfNoEntry: false });
  if (!stats) return output;
  if (!stats.isFile())
    throw new Error(
      `cannot export to ${output}: it is ${stats.isDirectory() ? 'a folder: name a file in it' : 'not a regular file: omit --output, and redirect stdout'}`,
    );
  return realpathSync(output);
}

async function selectProjects({ access }: Pick<Store, 'access'>, name: string | undefined): Promise<Project[]> {
  const projects = (await access.projects()).filter(({ id }) => !isPublicSide(id));
  if (name === undefined) return projects;
  const selected = projects.filter(project => project.name === name);
  if (selected.length === 0 && name.endsWith(PUBLIC_SUFFIX))
    throw new Error(`cannot export "${name}": it is the public side of a project, from which nothing is learned; export the project`);
  if (selected.length === 0) throw new Error(`cannot export the project "${name}": there is no such project; "project list" shows all`);
  return selected;
}

async function toStdout(lines: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(Readable.from(lines, { highWaterMark: 4 }), process.stdout, { end: false, signal });
  } catch (error) {
    // EPIPE: the reader has closed the pipe.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE')
      throw new Error(`cannot export to stdout: ${(error as Error).message}`, { cause: error });
  }
}

async function toFile(lines: AsyncIterable<string>, output: string, signal: AbortSignal): Promise<void> {
  let part: PartialFile | null = null;
  try {
    part = await createPartialFile(`${output}.part`, basename(output));
    await pipeline(Readable.from(lines, { highWaterMark: 4 }), createWriteStream(part.path, { mode: 0o600, flush: true }), { signal });
    renameSync(part.path, output);
    fsyncPath(dirname(resolve(output)));
  } catch (error) {
    throw new Error(`cannot export to ${output}: ${(error as Error).message}`, { cause: error });
  } finally {
    await part?.remove();
  }
}
