import { expandLink } from '../../protocol/link-template.js';
import type { ProjectLine } from '../../protocol/messages/dashboard.js';
import { commitOf } from '../text/in-sentence.js';
import { visible } from '../text/path-text.js';
import { OuterLink } from './outer-link.js';

interface Props {
  project: ProjectLine;
  hash: string;
  /** The page of the commit, where more is known of it than the settings of the project tell. */
  url?: string | null;
  /** Search to which the link leads if nobody knows the page of the commit; without it, there is no link. */
  search?: string;
}

/** The beginning of a commit hash, which leads to the page of the commit. */
export function Commit({ project, hash, url = commitUrl(project, hash), search }: Props) {
  const text = (
    <bdi class="hash" title={visible(hash)}>
      {commitOf(hash)}
    </bdi>
  );
  return url === null && search !== undefined ? <a href={search}>{text}</a> : <OuterLink href={url}>{text}</OuterLink>;
}

function commitUrl({ settings: { commit_url } }: ProjectLine, commit: string): string | null {
  return commit_url && expandLink(commit_url, { commit });
}
