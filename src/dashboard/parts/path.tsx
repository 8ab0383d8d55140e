import { projectPath, withQuery } from '../routes/routes.js';
import { cutForColumn, visible } from '../text/path-text.js';

/** A path, a branch or other text that somebody else chose. Where it is too long, its middle is cut; its link shows it whole on focus. */
export function Path({ text }: { text: string }) {
  const shown = visible(text);
  const { head, tail } = cutForColumn(shown);
  return (
    <span class="path" dir="ltr" title={shown}>
      {head !== '' && (
        <bdi class="head" dir="ltr">
          {head}
        </bdi>
      )}
      <bdi class="tail" dir="ltr">
        {tail}
      </bdi>
    </span>
  );
}

/** The path of a test file, which leads to its page. */
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
    <a class={className} href={withQuery(projectPath(project, 'file'), { path, branch })}>
      <Path text={path} />
    </a>
  );
}
