import type { ProjectOverview } from '../../engine/insight/trends/trends-answer.js';
import { type BuildState, endedState } from '../builds/state.js';
import { projectPath } from '../routes/routes.js';
import { duration } from '../text/format.js';
import { statusText } from './status.js';

type Recent = ProjectOverview['recent'][number];

const HEIGHT = 32;
/** The lowest bar that can be seen and clicked. */
const LEAST = 4;

/** The last builds, one bar each, as high as its wall time. The arrow keys go from bar to bar. */
export function BuildBars({ project, builds }: { project: string; builds: readonly Recent[] }) {
  const most = Math.max(...builds.map(({ wall }) => wall), 0.001);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move the focus between the links.
    <div class="build-bars" onKeyDown={moveFocus}>
      {builds.map((build, i) => {
        const height = Math.max(LEAST, Math.round((build.wall / most) * HEIGHT));
        const text = `${duration(build.wall)}, ${statusText(endedState(build), build)}`;
        return (
          <a
            key={build.build_id}
            href={projectPath(project, 'build', build.build_id)}
            class={CLASSES[endedState(build)]}
            tabIndex={i === builds.length - 1 ? 0 : -1}
            aria-label={`Build: ${text}`}
            title={text}
          >
            <span style={{ height: `${height}px` }} />
          </a>
        );
      })}
    </div>
  );
}

const CLASSES: Partial<Record<BuildState, string>> = { missing: 'incomplete', failed: 'failing' };

function moveFocus(event: KeyboardEvent) {
  const { target, key } = event;
  if (!(target instanceof HTMLElement)) return;
  const next = key === 'ArrowLeft' ? target.previousElementSibling : key === 'ArrowRight' ? target.nextElementSibling : null;
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
