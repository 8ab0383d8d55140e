import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import { missesFiles } from '../../../protocol/build-state.js';
import { agedMinutes } from '../../data/aged.js';
import { useLive, whileRunning } from '../../data/live.js';
import { Empty, Loaded } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { useAddress, useTitle } from '../../routes/router.js';
import { projectPath } from '../../routes/routes.js';
import { number, unbroken } from '../../text/format.js';
import { buildName, SHAPES } from '../builds/state.js';
import { AgainstUsual, BuildComparison } from './comparison.js';
import { BuildCompleteness } from './completeness.js';
import { costSentence } from './cost.js';
import { Evidence } from './evidence.js';
import { FileSearch } from './files/file-search.js';
import { BuildHead } from './head.js';
import { linkTo } from './link.js';
import { MinutesBar } from './minutes-bar.js';
import { BuildNodes } from './nodes.js';
import { OtherRuns } from './other-runs.js';
import { LeftOutFiles, SparedRuns } from './spared.js';
import { Why } from './why.js';

/** Seconds between two looks at a build that runs. */
const REFRESH = 2;

/** A build: what it took, why, and the evidence. */
export function BuildPage({ project, id }: ProjectPageProps) {
  const { path, query } = useAddress();
  const request = { attempt: 'load the build', project: project.id };
  const live = useLive<MinutesAnswer>(`/v1/builds/${encodeURIComponent(id)}/minutes`, request, whileRunning(REFRESH), agedMinutes);
  useTitle(live.data && `${SHAPES[live.data.state]} ${buildName(live.data)}`);
  if (live.problem?.status === 404) {
    return (
      <Empty title="This project has no such build.">
        <p>The build has expired, or the address is incomplete.</p>
        <a class="button" href={projectPath(project.name, 'builds')}>
          All builds
        </a>
      </Empty>
    );
  }
  const tab = query.get('tab') ?? 'timeline';
  const isSearched = tab === 'timeline' || tab === 'files';
  return (
    <Loaded live={live} waiting="Adding up where the minutes went …">
      {build => (
        <>
          <BuildHead project={project} build={build} id={id} />
          {!build.is_running && tab !== 'compare' && <AgainstUsual project={project} id={id} />}
          <Cost build={build} />
          {!build.is_running && build.state !== 'cancelled' && <MinutesBar build={build} />}
          {build.assumptions.map(sentence => (
            <p key={sentence} class="quiet small">
              {unbroken(sentence)}
            </p>
          ))}
          <div class="tab-row">
            <Tabs
              label="Evidence"
              current={tab}
              tabs={[
                { name: 'timeline', title: 'Timeline', href: linkTo(path, query, { tab: null, sort: null }) },
                { name: 'files', title: `Files ${number(build.files)}`, href: linkTo(path, query, { tab: 'files', sort: null }) },
                { name: 'nodes', title: `Nodes ${number(build.node_total)}`, href: linkTo(path, query, { tab: 'nodes', sort: null }) },
                { name: 'compare', title: 'Compare', href: linkTo(path, query, { tab: 'compare', sort: null }) },
                { name: 'why', title: 'Why', href: linkTo(path, query, { tab: 'why', sort: null }) },
                {
                  name: 'completeness',
                  title: completenessTitle(build),
                  href: linkTo(path, query, { tab: 'completeness', sort: null }),
                },
              ]}
            />
            {isSearched && <FileSearch />}
          </div>
          {isSearched && <Evidence project={project} build={build} id={id} tab={tab} />}
          {tab === 'nodes' && <BuildNodes build={build} />}
          {tab === 'compare' && <BuildComparison project={project} build={build} id={id} />}
          {tab === 'why' && <Why project={project} build={build} id={id} />}
          {tab === 'completeness' && <BuildCompleteness build={build} project={project} id={id} />}
          <LeftOutFiles project={project} build={build} />
          <SparedRuns project={project} build={build} />
          <OtherRuns project={project} build={build} />
        </>
      )}
    </Loaded>
  );
}

/** The tab's name, with a mark where files are missing or failed. */
function completenessTitle({ state, missing_count, failed_count }: MinutesAnswer): string {
  const marks = [
    ...(missesFiles(state) ? [`${SHAPES.missing} ${number(missing_count)}`] : []),
    // All failures of a complete build are muted.
    ...(failed_count && state !== 'complete' ? [`${SHAPES.failed} ${number(failed_count)}`] : []),
  ];
  return ['Completeness', ...marks].join(' ');
}

function Cost({ build }: { build: MinutesAnswer }) {
  const sentence = costSentence(build);
  if (sentence === null) return null;
  return <p title="By the settings of the project: with the set-up of each job, and in whole billing steps">{sentence}</p>;
}
