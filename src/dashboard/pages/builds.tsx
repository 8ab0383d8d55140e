import type { BuildLine, BuildLines } from '../../engine/insight/trends/trends-answer.js';
import { NoBuilds } from '../builds/no-builds.js';
import { parseBuildSearch, withWholeHash } from '../builds/search.js';
import { BuildTable } from '../builds/table.js';
import { useBuildList } from '../builds/use-list.js';
import { useLive } from '../data/live.js';
import { SearchBox } from '../parts/search-box.js';
import { Loaded } from '../parts/states.js';
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
  const request = { attempt: 'load the builds', project: project.id };
  const useLines = (path: string | null) =>
    useLive<BuildLines>(path, request, ({ builds }) => (builds.some(build => build.is_running) ? REFRESH_RUNNING : REFRESH));
  const asked = useLines(withQuery('/v1/build_summaries', query));
  // The beginning of a hash finds its builds, too.
  const whole = asked.isLoading ? null : withWholeHash(query, asked.data?.similar);
  const found = useLines(whole && withQuery('/v1/build_summaries', whole));
  const live = whole ? found : asked;
  const path = withQuery('/v1/build_summaries', whole ?? query);
  const list = useBuildList(path, request, live);

  return (
    <>
      <div class="page-head">
        <h1>{live.data ? shownOf(list.builds, live.data.total) : 'Builds'}</h1>
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
        {lines =>
          lines.builds.length === 0 ? (
            <NoBuilds text={text} query={query} lines={lines} setUp={projectPath(project.name, 'set-up')} />
          ) : (
            <>
              {list.added > 0 && (
                <button type="button" class="added" onClick={list.showAdded}>
                  ↑ {count(list.added, 'new build')}
                </button>
              )}
              <BuildTable
                builds={list.builds}
                total={list.loadOlder ? lines.total + unrecordedIn(list.builds) : list.builds.length}
                project={project.name}
              />
              {list.loadOlder && (
                <p class="more">
                  <button type="button" onClick={list.loadOlder} aria-busy={list.isLoadingOlder}>
                    {list.isLoadingOlder ? 'Loading older builds …' : 'Show older builds'}
                  </button>
                </p>
              )}
              {lines.searched_to && <p class="quiet small">Searched back to {exactTime(lines.searched_to)}.</p>}
            </>
          )
        }
      </Loaded>
    </>
  );
}

/** `40 of 361 builds and 3 unrecorded`: the listed ones, of all on the branch or of the commit that the search names. */
function shownOf(builds: readonly BuildLine[], total: number): string {
  const unrecorded = unrecordedIn(builds);
  const shown = builds.length - unrecorded;
  if (total === 0 && unrecorded > 0) return count(unrecorded, 'unrecorded build');
  const more = unrecorded === 0 ? '' : ` and ${number(unrecorded)} unrecorded`;
  return (shown < total ? `${number(shown)} of ` : '') + count(total, 'build') + more;
}

/** How many of these the total does not count. */
const unrecordedIn = (builds: readonly BuildLine[]) => builds.filter(({ build_id }) => build_id === null).length;
