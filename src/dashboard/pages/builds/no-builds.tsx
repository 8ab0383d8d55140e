import type { BuildLines } from '../../../protocol/answers/trends.js';
import { Empty } from '../../parts/states.js';
import { setQuery } from '../../routes/router.js';
import { withQuery } from '../../routes/routes.js';
import { count, exactTime } from '../../text/format.js';
import { inSentence } from '../../text/in-sentence.js';
import { visible } from '../../text/path-text.js';
import { searchWord } from '../../text/search.js';
import { searchOf } from './search.js';

const HASH = /^[0-9a-f]{4,64}$/i;

interface Props {
  /** The search as it was typed, and what it asked for. */
  text: string;
  query: Record<string, string>;
  lines: BuildLines;
  /** The page that helps with the first build. */
  setUp: string;
}

/** The page without builds: the names that may have been meant, or the way to the first build. */
export function NoBuilds({ text, query, lines: { searched_to, similar }, setUp }: Props) {
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
      {searched_to && <p>Builds were searched back to {exactTime(searched_to)}.</p>}
      {similar?.branches && (
        <Names
          known={`The newest branches with “${inSentence(query.branch ?? '')}” in their name:`}
          unknown={`No branch of the newest ${count(similar.searched, 'build')} has “${inSentence(query.branch ?? '')}” in its name.`}
          names={similar.branches}
          queryOf={name => ({ ...query, branch: name })}
        />
      )}
      {similar?.commit_hashes && (
        <Names
          known={`The newest commits that begin with “${inSentence(query.commit_hash ?? '')}”:`}
          unknown={`No commit of the newest ${count(similar.searched, 'build')} begins with “${inSentence(query.commit_hash ?? '')}”. An older one is found by its whole hash.`}
          names={similar.commit_hashes}
          queryOf={name => ({ ...query, commit_hash: name })}
        />
      )}
      {similar?.branches?.length === 0 && query.branch !== undefined && HASH.test(query.branch) && (
        <a href={withQuery(location.pathname, { q: searchWord('commit', query.branch) })}>Look for a commit that begins with it</a>
      )}
      <button type="button" onClick={() => setQuery({ q: null })}>
        Show all builds
      </button>
    </Empty>
  );
}

interface NamesProps {
  known: string;
  unknown: string;
  names: readonly string[];
  queryOf: (name: string) => Record<string, string>;
}

/** Names that lead to their builds. */
function Names({ known, unknown, names, queryOf }: NamesProps) {
  if (names.length === 0) return <p>{unknown}</p>;
  return (
    <>
      <p>{known}</p>
      <ul>
        {names.map(name => (
          <li key={name}>
            <a href={withQuery(location.pathname, { q: searchOf(queryOf(name)) })}>
              <bdi>{visible(name)}</bdi>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
