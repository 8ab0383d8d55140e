import type { FlakyAnswer, FlakyOutage } from '../../../protocol/answers/flaky.js';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { useLive } from '../../data/live.js';
import { When } from '../../parts/amounts.js';
import { FirstLine } from '../../parts/first-line.js';
import { Branch } from '../../parts/path.js';
import { Loaded } from '../../parts/states.js';
import { Table } from '../../parts/table.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { projectPath } from '../../routes/routes.js';
import { count } from '../../text/format.js';
import { commitOf } from '../../text/in-sentence.js';
import { FileTabs } from '../files/file-tabs.js';
import { flakyColumns } from './columns.js';
import { flakySentences } from './sentences.js';

/** The files that fail and pass at the same commit, and what each of them costs. */
export function FlakyPage({ project }: ProjectPageProps) {
  const live = useLive<FlakyAnswer>('/v1/flaky', { attempt: 'load the flaky files', project: project.id });
  return <Loaded live={live}>{answer => <Flaky project={project} answer={answer} />}</Loaded>;
}

function Flaky({ project, answer }: { project: ProjectLine; answer: FlakyAnswer }) {
  const { query } = useAddress();
  const { tells_outcomes, files, file_count, outages } = answer;
  const left = file_count - files.length;
  return (
    <>
      <FirstLine sentences={flakySentences(answer)}>
        <p class="quiet">
          {tells_outcomes ? (
            <>
              A flaky file failed and passed at the same commit, on any branch. What cost most comes first.{' '}
              <a href="/docs/flaky-files">How flaky files are found</a>
            </>
          ) : (
            <>
              Clients of the first version of the protocol tell no failures. Ballast's own client tells them{' '}
              <a href="/docs/any-runner">with reports</a>, and so do <a href="/docs/runner-plugins">its plugins</a>.
            </>
          )}
        </p>
      </FirstLine>
      <FileTabs project={project.name} current="flaky" />
      {files.length > 0 && (
        <Table
          label="Flaky files"
          columns={flakyColumns(project)}
          rows={files}
          keyOf={({ path }) => path}
          order={query.get('order') ?? ''}
          onOrder={order => setQuery({ order })}
          total={file_count}
        />
      )}
      {left > 0 && <p class="quiet">and {count(left, 'test file')} that cost less</p>}
      {outages.length > 0 && <Outages project={project.name} outages={outages} />}
    </>
  );
}

function Outages({ project, outages }: { project: string; outages: FlakyOutage[] }) {
  return (
    <section>
      <h2>{count(outages.length, 'outage')}</h2>
      <p class="small quiet">Files that failed together tell something about a node or a service, and nothing about themselves.</p>
      <ul>
        {outages.map(({ build_id, commit_hash, branch, at, node_index, files }) => (
          <li key={`${build_id} ${node_index}`}>
            {count(files, 'file')} failed {node_index === null ? 'together' : `on node ${node_index}`} in{' '}
            <a href={projectPath(project, 'build', build_id)}>{commitOf(commit_hash)}</a> of <Branch name={branch} />, <When time={at} />
          </li>
        ))}
      </ul>
    </section>
  );
}
