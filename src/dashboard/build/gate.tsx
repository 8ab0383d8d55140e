import type { MinutesAnswer } from '../../engine/insight/minutes/minutes-answer.js';
import { Path } from '../parts/path.js';
import { type Column, Table } from '../parts/table.js';
import { count, number } from '../text/format.js';

type Missing = MinutesAnswer['missing'][number];

const MISSING: Column<Missing>[] = [
  { name: 'path', title: 'File', isWide: true, cell: ({ path }) => <Path text={path} /> },
  {
    name: 'node',
    title: 'Handed to',
    cell: ({ node_index }) => (node_index === null ? 'no node' : `node ${node_index}`),
  },
];
const FAILED: Column<string>[] = [{ name: 'path', title: 'File', isWide: true, cell: path => <Path text={path} /> }];

/** Did every file run? */
export function BuildGate({ build }: { build: MinutesAnswer }) {
  const { files, missing, missing_count, failed, failed_count, kind, is_running } = build;
  return (
    <section class="gate">
      <h2>
        {kind === 'recordings'
          ? `${count(files, 'file')} ${files === 1 ? 'was' : 'were'} recorded. The build had no queue or split, so Ballast does not know whether other files should have run.`
          : `${number(files - missing_count)} of ${count(files, 'file')} ran${is_running ? ' so far' : ''}.`}
      </h2>
      {missing_count > 0 && !is_running && (
        <>
          <p>
            Nobody knows whether these files pass. Repeat the job of the node, or the build.
            {missing.length < missing_count ? ` The first ${number(missing.length)} are shown.` : ''}
          </p>
          <Table label="Files that did not run" columns={MISSING} rows={missing} keyOf={({ path }) => path} total={missing_count} />
        </>
      )}
      {failed_count !== null && failed_count > 0 && (
        <>
          <h2>{count(failed_count, 'file')} failed.</h2>
          <Table label="Files that failed" columns={FAILED} rows={failed} keyOf={path => path} total={failed_count} />
        </>
      )}
    </section>
  );
}
