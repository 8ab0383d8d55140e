import { setQuery } from '../routes/router.js';

/** A choice of the branch of a page. Empty: the default branch. */
export function BranchChoice({ branch, placeholder = '' }: { branch: string; placeholder?: string }) {
  return (
    <label>
      Branch
      <input
        class="branch"
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
