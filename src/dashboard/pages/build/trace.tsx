import { useState } from 'preact/hooks';
import type { ProjectLine } from '../../../protocol/messages/dashboard.js';
import { get, Problem } from '../../data/api.js';

/** Downloads the build as a Chrome trace. A link would not name the project. */
export function Trace({ project, id, commit }: { project: ProjectLine; id: string; commit: string }) {
  const [hint, setHint] = useState('');
  const download = async () => {
    try {
      const trace = await get<object>(`/v1/builds/${encodeURIComponent(id)}/trace`, { attempt: 'load the trace', project: project.id });
      const url = URL.createObjectURL(new Blob([JSON.stringify(trace)], { type: 'application/json' }));
      const link = document.createElement('a');
      link.href = url;
      link.download = `${commit.replace(/[^\w-]/g, '').slice(0, 12) || 'build'}.trace.json`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
      setHint('');
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setHint('Could not load the trace. ');
    }
  };
  return (
    <>
      <span role="status">{hint}</span>
      <button type="button" class="plain" title="Open it in Perfetto or in the DevTools of Chrome" onClick={() => void download()}>
        Trace
        <span aria-hidden="true">↓</span>
      </button>
    </>
  );
}
