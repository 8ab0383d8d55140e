import { useState } from 'preact/hooks';
import type { ProjectOverview } from '../../../protocol/answers/trends.js';
import { projectPath } from '../../routes/routes.js';
import { duration } from '../../text/format.js';
import { statusText } from '../status.js';
import { fullBar } from './bar-scale.js';

type Recent = ProjectOverview['recent'][number];

const HEIGHT = 32;
/** The lowest bar that can be seen and clicked. */
const LEAST = 4;

/** The last builds, one bar each, as high as its wall time. They are one stop of the Tab key; the arrow keys go from bar to bar. */
export function BuildBars({ project, builds }: { project: string; builds: readonly Recent[] }) {
  const [focused, setFocused] = useState<string | null>(null);
  const stop = builds.find(({ id }) => id === focused) ?? builds.at(-1);
  const full = fullBar(builds.map(({ wall }) => wall));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div class="build-bars" role="group" aria-label={`Last builds of ${project}`} onKeyDown={moveFocus}>
      {builds.map(build => {
        const { wall, state } = build;
        const height = Math.max(LEAST, full === 0 ? 0 : Math.round(Math.min(1, wall / full) * HEIGHT));
        const text = `${duration(wall)}, ${statusText(state, build)}`;
        return (
          <a
            key={build.id}
            href={projectPath(project, 'build', build.id)}
            class={CLASSES[state]}
            tabIndex={build === stop ? 0 : -1}
            onFocus={() => setFocused(build.id)}
            aria-label={`Build: ${text}`}
            title={text}
          >
            <span class={wall > full ? 'cut' : undefined} style={{ height: `${height}px` }} />
          </a>
        );
      })}
    </div>
  );
}

const CLASSES: Partial<Record<Recent['state'], string>> = { missing: 'incomplete', cancelled: 'incomplete', failed: 'failing' };

function moveFocus(event: KeyboardEvent) {
  const { target, key } = event;
  if (!(target instanceof HTMLElement)) return;
  const next = key === 'ArrowLeft' ? target.previousElementSibling : key === 'ArrowRight' ? target.nextElementSibling : null;
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
