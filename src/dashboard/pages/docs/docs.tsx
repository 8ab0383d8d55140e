import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { getHtml, Problem } from '../../data/api.js';
import { useSession } from '../../data/session.js';
import { FirstLine } from '../../parts/first-line.js';
import { Empty, Failure, ProgressLine } from '../../parts/states.js';
import type { PageProps } from '../../routes/pages.js';
import { useTitle } from '../../routes/router.js';
import { decode } from '../../routes/routes.js';
import { inSentence } from '../../text/in-sentence.js';
import { guideHtml } from './guide-html.js';
import { type Guide, guides } from './guides.js';

export function DocsPage({ id }: PageProps) {
  if (id === '') return <Index />;
  const guide = guides.find(({ name }) => name === id);
  if (!guide) {
    return (
      <Empty title={`There is no guide "${inSentence(id)}".`}>
        <a class="button" href="/docs">
          All guides
        </a>
      </Empty>
    );
  }
  return (
    <div class="docs">
      <nav aria-label="Guides">
        <Groups current={id} />
      </nav>
      <Text guide={guide} />
    </div>
  );
}

function Index() {
  return (
    <>
      <FirstLine sentences={['Guides.', 'They show the address of this server in their commands.']} />
      <Groups current={null} />
    </>
  );
}

function Groups({ current }: { current: string | null }) {
  const groups = [...new Set(guides.map(({ group }) => group))];
  return (
    <>
      {groups.map(group => (
        <section key={group} class="guides">
          <h2>{group}</h2>
          <ul>
            {guides
              .filter(guide => guide.group === group)
              .map(({ name, title, about }) => (
                <li key={name}>
                  <a href={`/docs/${name}`} aria-current={name === current ? 'page' : undefined}>
                    {title}
                  </a>
                  {current === null && <span class="quiet"> {about}</span>}
                </li>
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** The text of a guide, which was rendered when the dashboard was built. */
function Text({ guide }: { guide: Guide }) {
  const { url } = useSession();
  useTitle(guide.title);
  const [html, setHtml] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, setTurn] = useState(0);
  useLayoutEffect(() => {
    const abort = new AbortController();
    getHtml(guide.path, { attempt: `load the guide "${guide.title}"`, signal: abort.signal }).then(
      html => {
        setHtml(html);
        setProblem(null);
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        setProblem(error);
      },
    );
    return () => abort.abort();
  }, [guide, turn]);
  const shown = useMemo(() => html && { __html: guideHtml(html, url) }, [html, url]);
  useLayoutEffect(() => {
    // The browser looked for the section before the text was there.
    if (shown && location.hash !== '') document.getElementById(decode(location.hash.slice(1)))?.scrollIntoView();
  }, [shown]);
  return (
    <div class="guide-text">
      <ProgressLine isLoading={!shown && !problem} />
      {problem && <Failure problem={problem} reload={() => setTurn(turn => turn + 1)} />}
      {shown && <article class="guide" dangerouslySetInnerHTML={shown} />}
    </div>
  );
}
