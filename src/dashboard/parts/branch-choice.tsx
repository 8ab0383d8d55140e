import { setQuery } from '../routes/router.js';

/** Branches differ at their ends. */
function showEnd(input: HTMLInputElement | null) {
  if (input) input.scrollLeft = input.scrollWidth;
}

/** A choice of the branch of a page. Empty: the default branch. */
export function BranchChoice({ branch, placeholder = '' }: { branch: string; placeholder?: string }) {
  return (
    <label>
      Branch
      <input
        class="branch"
        ref={showEnd}
        title={branch}
        value={branch}
        placeholder={placeholder}
        maxLength={500}
        spellcheck={false}
        autocomplete="off"
        onChange={event => setQuery({ branch: event.currentTarget.value.trim() })}
      />
    </label>
  );
}
