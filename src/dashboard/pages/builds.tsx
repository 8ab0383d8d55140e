import type { BuildLines } from '../../engine/insight/trends/trends-answer.js';
import { parseBuildSearch } from '../builds/search.js';
import { BuildTable } from '../builds/table.js';
import { useBuildList } from '../builds/use-list.js';
import { useLive } from '../data/live.js';
import { SearchBox } from '../parts/search-box.js';
import { Empty, Loaded } from '../parts/states.js';
import type { ProjectPageProps } from '../routes/pages.js';
import { setQuery, useAddress } from '../routes/router.js';
import { projectPath, withQuery } from '../routes/routes.js';
import { count, exactTime, number } from '../text/format.js';

/** Seconds between two looks for new builds; shorter while one is running. */
const REFRESH = 10;
const REFRESH_RUNNING = 3;

export function BuildsPage({ project }: ProjectPageProps) {
  const text = useAddress().query.get('q') ?? '';
  const { query, problems } = parseBuildSearch(text);
  const path = withQuery('/v1/build_summaries', query);
  const request = { attempt: 'load the builds', project: project.id };
  const live = useLive<BuildLines>(path, request, ({ builds }) => (builds.some(build => build.is_running) ? REFRESH_RUNNING : REFRESH));
  const list = useBuildList(path, request, live);

  return (
    <>
      <div class="page-head">
        <h1>{live.data ? shownOf(list.builds.length, live.data.total) : 'Builds'}</h1>
        <SearchBox
          label="Search the builds"
          placeholder="branch:main commit:4d5e6f failed: nodes:8"
          value={text}
          onSearch={q => setQuery({ q })}
        >
          {problems.map(problem => (
            <p key={problem}>{problem}</p>
          ))}
        </SearchBox>
      </div>
      <Loaded live={live}>
        {({ builds, searched_to }) =>
          builds.length === 0 ? (
            <NoBuilds text={text} searchedTo={searched_to} setUp={projectPath(project.name, 'set-up')} />
          ) : (
            <>
              {list.added > 0 && (
                <button type="button" class="added" onClick={list.showAdded}>
                  ↑ {count(list.added, 'new build')}
                </button>
              )}
              <BuildTable builds={list.builds} total={list.loadOlder ? live.data!.total : list.builds.length} project={project.name} />
              {list.loadOlder && (
                <p class="more">
                  <button type="button" onClick={list.loadOlder} disabled={list.isLoadingOlder}>
                    {list.isLoadingOlder ? 'Loading older builds …' : 'Show older builds'}
                  </button>
                </p>
              )}
              {searched_to && <p class="quiet small">Searched back to {exactTime(searched_to)}.</p>}
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** `40 of 361 builds`: those that are listed, of all on the branch or of the commit that the search names. */
const shownOf = (shown: number, total: number) => (shown < total ? `${number(shown)} of ` : '') + count(total, 'build');

function NoBuilds({ text, searchedTo, setUp }: { text: string; searchedTo: string | null; setUp: string }) {
  if (text === '') {
    return (
      <Empty title="No build has come yet.">
        <p>A build appears here as soon as its first node asks for test files or records a time.</p>
        <a class="button" href={setUp}>
          Set up a CI job
        </a>
      </Empty>
    );
  }
  return (
    <Empty title={`No build matches ${text}`}>
      <p>
        {searchedTo ? `Builds were searched back to ${exactTime(searchedTo)}. ` : ''}A branch and a commit hash are compared as a whole.
      </p>
      <button type="button" onClick={() => setQuery({ q: null })}>
        Show all builds
      </button>
    </Empty>
  );
}
