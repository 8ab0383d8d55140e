import type { BuildLines } from '../../../protocol/answers/trends.js';
import { useLive } from '../../data/live.js';
import { FirstLine } from '../../parts/first-line.js';
import { SearchBox } from '../../parts/search-box.js';
import { Loaded } from '../../parts/states.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { setQuery, useAddress } from '../../routes/router.js';
import { projectPath, withQuery } from '../../routes/routes.js';
import { count, exactTime } from '../../text/format.js';
import { branchSentences, shownText, unrecordedIn } from './list.js';
import { NoBuilds } from './no-builds.js';
import { parseBuildSearch, withWholeHash } from './search.js';
import { BuildTable } from './table.js';
import { useBuildList } from './use-list.js';

/** Seconds between two looks for new builds; shorter while one is running. */
const REFRESH = 10;
const REFRESH_RUNNING = 3;
const REFRESH_SORTED = 60;

/** Rows of a sorted list. */
const SORTED = 100;

const ORDER = /^-?(started|nodes|wall|idle|saved)$/;
const orderOf = (text: string) => (ORDER.test(text) ? text : '');

export function BuildsPage({ project }: ProjectPageProps) {
  const { query: address } = useAddress();
  const text = address.get('q') ?? '';
  const order = orderOf(address.get('sort') ?? '');
  const { query: search, problems } = parseBuildSearch(text);
  const query = { ...search, ...(order !== '' && { sort: order, limit: String(SORTED) }) };
  const request = { attempt: 'load the builds', project: project.id };
  const useLines = (path: string | null) =>
    useLive<BuildLines>(path, request, ({ builds }) => {
      if (order !== '') return REFRESH_SORTED;
      return builds.some(build => build.is_running) ? REFRESH_RUNNING : REFRESH;
    });
  const asked = useLines(withQuery('/v1/build_summaries', query));
  // The beginning of a hash finds its builds, too.
  const whole = asked.isLoading ? null : withWholeHash(query, asked.data?.similar);
  const found = useLines(whole && withQuery('/v1/build_summaries', whole));
  const live = whole ? found : asked;
  const path = withQuery('/v1/build_summaries', whole ?? query);
  const list = useBuildList(path, request, live);
  // A sorted list has one page, and its rows have no place among older ones.
  const builds = order === '' ? list.builds : (live.data?.builds ?? []);
  const shown = live.data ? (order === '' ? shownText(builds, live.data.total) : `${count(builds.length, 'build')}, sorted`) : 'Builds';
  // Of builds that another search found nobody can say how the branch does.
  const isOfBranch = order === '' && Object.keys(search).every(name => name === 'branch');
  const answer = isOfBranch ? branchSentences(builds, search.branch ?? project.default_branch) : [];

  return (
    <>
      <FirstLine sentences={answer.length > 0 ? answer : [shown]}>{answer.length > 0 && <p class="small quiet">{shown}</p>}</FirstLine>
      <div class="choices">
        <SearchBox
          label="Search the builds"
          placeholder="branch:main commit:4d5e6f failed: nodes:8 from:2026-11-01"
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
              {order === '' && list.added > 0 && (
                <button type="button" class="added" onClick={list.showAdded}>
                  ↑ {count(list.added, 'new build')}
                </button>
              )}
              <BuildTable
                builds={builds}
                total={order === '' && list.loadOlder ? lines.total + unrecordedIn(builds) : builds.length}
                project={project}
                order={order}
                onOrder={sort => setQuery({ sort })}
              />
              <p class="more">
                {order !== '' && (
                  <button type="button" onClick={() => setQuery({ sort: null })}>
                    Newest first
                  </button>
                )}
                {order === '' && list.loadOlder && (
                  <button type="button" onClick={list.loadOlder} aria-busy={list.isLoadingOlder}>
                    {list.isLoadingOlder ? 'Loading older builds …' : 'Show older builds'}
                  </button>
                )}
              </p>
              {lines.searched_to && <p class="quiet small">Searched back to {exactTime(lines.searched_to)}.</p>}
            </>
          )
        }
      </Loaded>
    </>
  );
}
