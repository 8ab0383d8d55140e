import { SearchBox } from '../../../parts/search-box.js';
import { setQuery, useAddress } from '../../../routes/router.js';
import { parseFilter } from '../../../timeline/filter.js';

/** Searches the files of a build, in the timeline and in the table of files. */
export function FileSearch() {
  const text = useAddress().query.get('q') ?? '';
  return (
    <SearchBox
      label="Search the files of the build"
      placeholder="cart_spec node:5 failed: over: missing:"
      value={text}
      onSearch={q => setQuery({ q })}
    >
      {parseFilter(text).problems.map(problem => (
        <p key={problem}>{problem}</p>
      ))}
    </SearchBox>
  );
}
