import { useState } from 'preact/hooks';
import type { AccessAnswer, CreatedProject, CreatedToken, TokenLine } from '../../../protocol/messages/dashboard.js';
import { When } from '../../parts/amounts.js';
import { ConfirmButton } from '../../parts/confirm.js';
import { Secret } from '../../parts/copy.js';
import { Path } from '../../parts/path.js';
import { projectPath } from '../../routes/routes.js';
import { inSentence } from '../../text/in-sentence.js';
import { NameButton } from './name-button.js';
import type { Change } from './use-change.js';

type Project = AccessAnswer['projects'][number];

/** Projects and their tokens: create and revoke. */
export function Projects({ projects, change }: { projects: Project[]; change: Change }) {
  const [created, setCreated] = useState<{ project: string; token: string; isPublic: boolean } | null>(null);
  const createProject = async (name: string) => {
    const answer = await change.send<CreatedProject>('/dashboard/projects', { name }, `create the project "${name}"`);
    if (answer) setCreated({ project: answer.name, token: answer.token, isPublic: false });
    return answer !== null;
  };
  const createToken = async ({ id, name: project }: Project, name: string, isPublic: boolean) => {
    const message = { project: id, name, is_public: isPublic };
    const answer = await change.send<CreatedToken>('/dashboard/tokens', message, `create a token of ${project}`);
    if (answer) setCreated({ project, token: answer.token, isPublic });
    return answer !== null;
  };
  const rename = async ({ id, name: project }: Project, name: string) =>
    (await change.send('/dashboard/projects/rename', { project: id, name }, `rename the project ${project}`)) !== null;
  const remove = async ({ id, name: project }: Project, name: string) =>
    (await change.send('/dashboard/projects/delete', { project: id, name }, `delete the project ${project}`)) !== null;
  return (
    <section>
      <h2>Projects and tokens</h2>
      <p class="quiet">
        One project for each test suite. A CI job sends its token; a project may have several, so that you can exchange them. The last use
        of a token is precise to an hour.
      </p>
      {created && (
        <Secret title={`A token of ${inSentence(created.project)}.`} text={created.token}>
          {created.isPublic
            ? 'It may stand in the repository: CI runs of forks use it, and nothing is learned from them. Ballast keeps only its hash.'
            : 'Store it as a secret of your CI system. Ballast keeps only its hash.'}
        </Secret>
      )}
      <ul class="access">
        {projects.map(project => (
          <li key={project.id}>
            <h3>
              <a href={projectPath(project.name, 'builds')}>
                <Path text={project.name} />
              </a>
            </h3>
            <Tokens tokens={project.tokens} project={project.name} change={change} />
            <div class="actions">
              {!project.is_public && (
                <>
                  <a class="button" href={projectPath(project.name, 'set-up')}>
                    Set-up
                  </a>
                  <a class="button" href={projectPath(project.name, 'settings')}>
                    Settings
                  </a>
                  <NameButton
                    button="New token"
                    label="What it is for, if you like"
                    maxLength={100}
                    isSending={change.isSending}
                    onSubmit={name => createToken(project, name, false)}
                  />
                </>
              )}
              <NameButton
                button="New public token"
                label="Anyone may read it; what it is for, if you like"
                maxLength={100}
                isSending={change.isSending}
                onSubmit={name => createToken(project, name, true)}
              />
              {!project.is_public && <ProjectButtons project={project} rename={rename} remove={remove} isSending={change.isSending} />}
            </div>
          </li>
        ))}
      </ul>
      <NameButton button="New project" label="Name of the new project" isRequired isSending={change.isSending} onSubmit={createProject} />
    </section>
  );
}

interface ButtonsProps {
  project: Project;
  rename: (project: Project, name: string) => Promise<boolean>;
  remove: (project: Project, name: string) => Promise<boolean>;
  isSending: boolean;
}

function ProjectButtons({ project, rename, remove, isSending }: ButtonsProps) {
  return (
    <>
      <NameButton
        button="Rename"
        label={`New name of ${inSentence(project.name)}`}
        isRequired
        isSending={isSending}
        onSubmit={name => rename(project, name)}
      />
      <NameButton
        button="Delete"
        label={`CI jobs that send its tokens are refused at once, and its builds and timings are lost. To delete it, type ${inSentence(project.name)}`}
        isRequired
        isSending={isSending}
        onSubmit={name => remove(project, name)}
      />
    </>
  );
}

function Tokens({ tokens, project, change }: { tokens: TokenLine[]; project: string; change: Change }) {
  const active = tokens.filter(token => token.revoked_at === null);
  const revoked = tokens.length - active.length;
  return (
    <ul class="lines" tabIndex={-1} aria-label={`Tokens of ${inSentence(project)}`}>
      {active.map(({ id, name, created_at, used_at }) => (
        <li key={id}>
          <span>
            Token <code>{id}</code>
            {name !== null && <bdi> for {name}</bdi>}, created <When time={created_at} />,{' '}
            {used_at === null ? (
              'never used'
            ) : (
              <>
                last used <When time={used_at} />
              </>
            )}
          </span>
          <ConfirmButton
            name="Revoke"
            consequence="CI jobs that send it are refused at once."
            onConfirm={() => void change.send('/dashboard/tokens/revoke', { id }, `revoke a token of ${project}`)}
          />
        </li>
      ))}
      {active.length === 0 && <li class="failed-text">No token: no CI job can reach this project.</li>}
      {revoked > 0 && <li class="small quiet">{revoked} revoked</li>}
    </ul>
  );
}
