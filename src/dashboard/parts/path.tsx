import { fileOfPiece } from '../../protocol/piece-path.js';
import { projectPath, withQuery } from '../routes/routes.js';
import { atName, branchText, visible } from '../text/path-text.js';

/**
 * A path, a branch or other text that somebody else chose. Where it is too long, its beginning is cut; its link shows it whole on focus. It is
 * one run of inline text, so that a selection and a screen reader have it without a break. `whole` is shown on hover.
 */
export function Path({ text, whole = text }: { text: string; whole?: string }) {
  const shown = visible(text);
  const { directory, name } = atName(shown);
  return (
    <span class="path" title={visible(whole)}>
      <bdi dir="ltr">
        <span class="quiet">{directory}</span>
        {name}
      </bdi>
    </span>
  );
}

/** A branch as people call it. Its own name is shown on hover. */
export const Branch = ({ name }: { name: string }) => <Path text={branchText(name)} whole={name} />;

/** The path of a test file, or of a piece of it, which leads to the page of the file. */
export function FileLink({
  project,
  path,
  branch,
  className,
}: {
  project: string;
  path: string;
  branch: string | null;
  className?: string;
}) {
  return (
    <a class={className} href={withQuery(projectPath(project, 'file'), { path: fileOfPiece(path), branch })}>
      <Path text={path} />
    </a>
  );
}
