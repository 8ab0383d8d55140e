import { useState } from 'preact/hooks';
import { agree } from '../../../base/plural.js';
import type { SettingLine, SettingsAnswer, WebhookTest } from '../../../protocol/messages/dashboard.js';
import { useLive } from '../../data/live.js';
import { useSession } from '../../data/session.js';
import { FirstLine } from '../../parts/first-line.js';
import { Failure, Loaded } from '../../parts/states.js';
import type { ProjectPageProps } from '../../routes/pages.js';
import { withQuery } from '../../routes/routes.js';
import { count } from '../../text/format.js';
import { inSentence } from '../../text/in-sentence.js';
import { useChange } from '../access/use-change.js';

const GROUPS = [
  { title: 'Cost and time', names: /^(price|setup|billing_step|target)$/ },
  { title: 'Links', names: /^(job|commit|diff)_url$/ },
  { title: 'Webhook', names: /^webhook_/ },
];

/** The choices of operators for a project. */
export function SettingsPage({ project }: ProjectPageProps) {
  const { role } = useSession();
  const isOperator = role === 'operator';
  const attempt = 'load the settings of the project';
  const live = useLive<SettingsAnswer>(isOperator ? withQuery('/dashboard/projects/settings', { project: project.id }) : null, { attempt });
  if (!isOperator) return <FirstLine sentences={['Only operators see and change the settings of a project.']} />;
  const setOf = (settings: SettingLine[]) => settings.filter(({ text }) => text !== '').length;
  return (
    <Loaded live={live}>
      {({ settings }) => (
        <>
          <FirstLine
            sentences={[
              `${setOf(settings)} of ${count(settings.length, 'setting')} ${agree(setOf(settings), 'is', 'are')} set for ${inSentence(project.name)}.`,
              'All of them are optional.',
            ]}
          />
          <Settings project={project.id} settings={settings} reload={live.reload} />
          <p class="quiet">
            <a href="/docs/settings#settings-of-a-project">What each of them means</a>
          </p>
        </>
      )}
    </Loaded>
  );
}

function Settings({ project, settings, reload }: { project: number; settings: SettingLine[]; reload: () => void }) {
  const session = useSession();
  const [edited, setEdited] = useState<Record<string, string>>({});
  const [isSaved, setSaved] = useState(false);
  const change = useChange(() => {
    setEdited({});
    setSaved(true);
    reload();
    session.reload();
  });
  const webhook = settings.find(({ name }) => name === 'webhook_url')!.text;
  const save = () => change.send('/dashboard/projects/settings', { project, settings: edited }, 'change the settings');
  /** @param text undefined: it stays as it is */
  const edit = (name: string, text: string | undefined) => {
    setSaved(false);
    const { [name]: _, ...others } = edited;
    setEdited(text === undefined ? others : { ...others, [name]: text });
  };
  return (
    <form
      class="settings"
      onSubmit={event => {
        event.preventDefault();
        void save();
      }}
    >
      {GROUPS.map(({ title, names }) => (
        <section key={title}>
          <h2>{title}</h2>
          {settings
            .filter(({ name }) => names.test(name))
            .map(line => (
              <Setting key={line.name} line={line} edited={edited[line.name]} edit={text => edit(line.name, text)} />
            ))}
        </section>
      ))}
      {change.problem && <Failure problem={change.problem} reload={() => void save()} />}
      <div class="actions">
        <button type="submit" disabled={change.isSending || Object.keys(edited).length === 0}>
          Save
        </button>
        <span role="status">{isSaved ? 'Saved.' : ''}</span>
      </div>
      {webhook !== '' && <TestOfWebhook project={project} url={webhook} />}
    </form>
  );
}

/** Sends a test to the webhook as it is saved. */
function TestOfWebhook({ project, url }: { project: number; url: string }) {
  const [outcome, setOutcome] = useState('');
  const { isSending, problem, send } = useChange();
  const test = async () => {
    setOutcome('');
    const answer = await send<WebhookTest>('/dashboard/projects/webhook_test', { project }, 'send a test to the webhook');
    if (answer) setOutcome(`The webhook at ${url} ${answer.problem ?? 'accepted the test'}.`);
  };
  return (
    <div class="actions">
      <button type="button" disabled={isSending} onClick={() => void test()}>
        Send a test to the saved webhook
      </button>
      <span role="status">{outcome}</span>
      {problem && <Failure problem={problem} reload={() => void test()} />}
    </div>
  );
}

interface SettingProps {
  line: SettingLine;
  /** Undefined: it stays as it is. */
  edited: string | undefined;
  edit: (text: string | undefined) => void;
}

/** The value of a secret is not known here. */
function Setting({ line: { name, help, text, is_secret }, edited, edit }: SettingProps) {
  const kind = is_secret ? ({ type: 'password', autocomplete: 'new-password' } as const) : ({ type: 'text', autocomplete: 'off' } as const);
  // Only the button unsets a secret: a field that was typed in and emptied leaves it as it is.
  const onText = (typed: string) => edit(is_secret && typed === '' ? undefined : typed);
  return (
    <label>
      <code>{name}</code>
      <input
        {...kind}
        value={edited ?? (is_secret ? '' : text)}
        placeholder={is_secret && edited === undefined ? text : ''}
        spellcheck={false}
        onInput={event => onText(event.currentTarget.value)}
      />
      <span class="small quiet">
        {help}{' '}
        {is_secret && text !== '' && edited !== '' && (
          <button type="button" class="plain" onClick={() => edit('')}>
            Unset
          </button>
        )}
      </span>
    </label>
  );
}
