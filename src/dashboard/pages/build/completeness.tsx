import { agree } from '../../../base/plural.js';
import type { CompletenessAnswer } from '../../../protocol/answers/completeness.js';
import type { FailedFile, FileOfNode, MinutesAnswer } from '../../../protocol/answers/minutes.js';
import { missesFiles } from '../../../protocol/build-state.js';
import { useLive } from '../../data/live.js';
import { Path } from '../../parts/path.js';
import { Failure } from '../../parts/states.js';
import { type Column, Table } from '../../parts/table.js';
import type { BuildViewProps } from '../../routes/pages.js';
import { useAddress } from '../../routes/router.js';
import { withQuery } from '../../routes/routes.js';
import { count, number } from '../../text/format.js';
import { linkTo } from './link.js';

/** Did every file run, and which failed? */
export function BuildCompleteness({ build, project }: BuildViewProps) {
  const { path, query } = useAddress();
  const { files, missing, missing_count, failed, failed_count, kind, is_running, state } = build;
  const columns = <Of extends FileOfNode>(node: string): Column<Of>[] => [
    {
      name: 'path',
      title: 'File',
      isWide: true,
      cell: file => (
        <a href={linkTo(path, query, { tab: 'files', file: file.path })}>
          <Path text={file.path} />
        </a>
      ),
    },
    { name: 'node', title: node, cell: ({ node_index }) => (node_index === null ? 'no node' : `node ${node_index}`) },
  ];
  const end: Column<FailedFile> = { name: 'end', title: 'End', cell: ({ is_muted }) => (is_muted ? 'failed, muted' : 'failed') };
  return (
    <section class="completeness">
      {failed_count !== null && failed_count > 0 && (
        <>
          <h2>{count(failed_count, 'file')} failed.</h2>
          <Table
            label="Files that failed"
            columns={[...columns<FailedFile>('Ran on'), ...(failed.some(({ is_muted }) => is_muted) ? [end] : [])]}
            rows={failed}
            keyOf={file => file.path}
            total={failed_count}
          />
        </>
      )}
      <h2>
        {kind === 'recordings'
          ? `${count(files, 'file was', 'files were')} recorded. The build had no queue or split, so Ballast does not know whether other files should have run.`
          : missesFiles(state)
            ? `${number(missing_count)} of ${count(files, 'file')} ${agree(missing_count, 'is', 'are')} missing.`
            : is_running
              ? `${number(files - missing_count)} of ${count(files, 'file')} are recorded so far.`
              : `${count(files, 'file')}, none missing.`}
      </h2>
      {missesFiles(state) && (
        <>
          <p>
            Nobody knows whether {agree(missing_count, 'this file passes', 'these files pass')}. Repeat the job of the node, or the build.
            {missing.length < missing_count ? ` The first ${number(missing.length)} are shown.` : ''}
          </p>
          <Table label="Missing files" columns={columns('Handed to')} rows={missing} keyOf={file => file.path} total={missing_count} />
        </>
      )}
      {kind !== 'recordings' && !is_running && <Verified build={build} project={project.id} />}
    </section>
  );
}

/** The server cuts longer ids of CI runs, and nothing is found by a part. */
const WHOLE_ID = 199;

/** The answer of `ballast verify`. */
function Verified({ build, project }: { build: MinutesAnswer; project: number }) {
  const { commit_hash, branch, node_total, kind, ci_run } = build;
  const ofRun = { [kind === 'queue' ? 'node_build_id' : 'ci_build_id']: ci_run !== null && ci_run.length <= WHOLE_ID ? ci_run : null };
  const path = withQuery('/v1/builds/completeness', { commit_hash, branch, node_total, ...ofRun });
  const { data, problem, reload } = useLive<CompletenessAnswer>(path, { attempt: 'verify the build', project });
  const isIncomplete = problem?.status === 409;
  if (problem && !isIncomplete) return <Failure problem={problem} reload={reload} />;
  const sentences = isIncomplete ? problem.reasons : (data?.warnings ?? []);
  return (
    <>
      {isIncomplete && (
        <h2>
          <code>ballast verify</code> fails:
        </h2>
      )}
      {data && (
        <p>
          <code>ballast verify</code> passes: it asks whether every file ran, not whether tests failed.
        </p>
      )}
      <ul>
        {sentences.map(sentence => (
          <li key={sentence}>{sentence}.</li>
        ))}
      </ul>
    </>
  );
}
