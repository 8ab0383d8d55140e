import pg from 'pg';

/** Each finds what contradicts itself in a database. */
const CONTRADICTIONS: Readonly<Record<string, string>> = {
  'the journal of a queue has a gap': 'select queue from journal group by queue having min(position) <> 0 or count(*) <> max(position) + 1',
  'a journal has no queue': 'select distinct queue from journal where queue not in (select id from queues)',
  'a queue has no journal': 'select id from queues where id not in (select queue from journal)',
  'a queue has no files': 'select id from queues where id not in (select owner from pieces where part = 0)',
  'a split has no files': 'select id from splits where id not in (select owner from pieces where part = 0)',
  'files belong to no split and no queue':
    'select distinct owner from pieces where owner not in (select id from splits union all select id from queues)',
  'a CI run has no plan': 'select id from ci_runs where plan not in (select id from splits union all select id from queues)',
  'a run has no build': 'select build from runs where build not in (select number from builds)',
  'two runs of a build have one ordinal': 'select build from runs group by build, ordinal having count(*) > 1',
  'two runs have one id': 'select id from runs group by id having count(*) > 1',
  'the runs of a node have a gap': 'select build from runs group by build, node_index having min(run) <> 1 or count(*) <> max(run)',
  'a build counts other runs than it has': `select number from builds left join (
      select build, count(*) as runs, sum(test_files) as files, max(ordinal) as ordinal, max(created_at) as at from runs group by build
    ) own on build = number
    where subsets <> coalesce(runs, 0) or builds.test_files <> coalesce(files, 0) or recorded < coalesce(ordinal, 0) or updated_at < at`,
  'what is to be learned has no run':
    'select entry from unlearnt where not exists (select 1 from runs where build = unlearnt.build and node_index = unlearnt.node_index and run = unlearnt.run)',
  'a run is to be learned twice': 'select build from unlearnt group by build, node_index, run having count(*) > 1',
};

/** Checks a database that servers may use. Returns a sentence for each problem. Nothing may have expired in it. */
export async function checkDatabase(url: string): Promise<string[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    // All statements see one moment.
    await client.query('begin isolation level repeatable read read only');
    const problems: string[] = [];
    for (const [problem, text] of Object.entries(CONTRADICTIONS)) {
      const { rows } = await client.query<Record<string, unknown>>(text);
      for (const row of rows) problems.push(`${problem}: ${Object.values(row).join()}`);
    }
    return problems;
  } finally {
    await client.end();
  }
}
