/** What a release is made from. */
interface Source {
  /** The version in package.json. */
  package: string;
  /** The texts of Chart.yaml and of the changelog. */
  chart: string;
  changelog: string;
  /** The texts that name files of a release, and images, by their paths. */
  texts: Readonly<Record<string, string>>;
  /** The versions whose stores are kept for the tests of upgrades. */
  fixtures: readonly string[];
  /** What "git status --porcelain" prints. */
  changes: string;
  /** What the folder of the release has already. */
  files: readonly string[];
}

/** A file of a release, or an image, with its version. */
const NAMED = /\bballast(?:[-_][a-z]+)*[-:](\d+\.\d+\.\d+)/g;

/** Says why a version cannot be made, and what to do, a sentence for each reason. */
export function obstaclesOf(version: string, { package: own, chart, texts, changelog, fixtures, changes, files }: Source): string[] {
  const charts = ['version', 'appVersion'].map(name => new RegExp(`^${name}: (\\S+)$`, 'm').exec(chart)?.[1] ?? 'none');
  return [
    !/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version) && 'it is no semantic version, such as 1.2.3',
    own !== version && `package.json has the version ${own}; set it with "npm version ${version} --no-git-tag-version"`,
    charts.some(each => each !== version) &&
      `the chart has version ${charts[0]} and appVersion ${charts[1]}; set both in scripts/deploy/helm/ballast/Chart.yaml`,
    ...Object.entries(texts).map(([path, text]) => {
      const [other] = [...text.matchAll(NAMED)].filter(([, named]) => named !== version);
      return other !== undefined && `${path} names ${other[0]}; set ${version} there`;
    }),
    sectionOf(version, changelog) === null && `src/docs/reference/changelog.md has no section "## ${version}"; write what changed`,
    !fixtures.includes(version) &&
      `test/upgrade/fixtures has no stores of it, with which later versions are tested; make them with "npm run fixture", and commit them`,
    changes !== '' && `the tree has changes that are not committed: ${changes.split('\n')[0]!.trim()}; commit or remove them`,
    files.length > 0 && `its folder has files already, such as ${files[0]}; remove them, or name another folder`,
  ].filter(each => each !== false);
}

/** The notes of a version: its section of the changelog. */
export function notesOf(version: string, changelog: string): string {
  return `# Ballast ${version}\n\n${sectionOf(version, changelog) ?? ''}\n`;
}

function sectionOf(version: string, changelog: string): string | null {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find(text => text.startsWith(`${version}\n`));
  return section?.slice(version.length).trim() ?? null;
}
