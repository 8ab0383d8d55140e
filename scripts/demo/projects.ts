import type { Folder, SuiteFile } from './suite.js';

/** A project of the demo, and what happens in it. */
export interface Project {
  name: string;
  mode: 'queue' | 'split';
  nodes: number;
  folders: readonly Folder[];
  /** On a weekday. */
  buildsPerDay: number;
  /** Seconds that a node needs to start its test runner: before each batch. */
  boot: number;
  /** Seconds until the first node begins, and the median of how much later each of the others does. */
  queueing: number;
  startSpread: number;
  /** Since when its clients run long files in pieces; null: they do not. */
  pieces: { runner: string; daysAgo: number } | null;
  /** Since when its clients retry files that failed, with --flaky-passes; null: they do not. */
  retries: { daysAgo: number } | null;
  /** A node that is slow since some day. */
  slowNode: { node_index: number; daysAgo: number; slowness: number } | null;
  /** Stories of single files. Each takes the place of the first drawn file of its folder. */
  stories: readonly Story[];
}

export type Story = Pick<SuiteFile, 'path' | 'seconds'> & Partial<SuiteFile>;

const rspec: Project = {
  name: 'web-rspec',
  mode: 'queue',
  nodes: 12,
  folders: [
    { path: 'spec/components', ending: '_component_spec.rb', files: 60, median: 1.2, spread: 0.5 },
    { path: 'spec/features', ending: '_spec.rb', files: 118, median: 17, spread: 0.6 },
    { path: 'spec/jobs', ending: '_job_spec.rb', files: 74, median: 2, spread: 0.7 },
    { path: 'spec/lib', ending: '_spec.rb', files: 40, median: 1.4, spread: 0.9 },
    { path: 'spec/mailers', ending: '_mailer_spec.rb', files: 48, median: 1.5, spread: 0.5 },
    { path: 'spec/models', ending: '_spec.rb', files: 210, median: 2.6, spread: 0.7 },
    { path: 'spec/policies', ending: '_policy_spec.rb', files: 82, median: 0.6, spread: 0.4 },
    { path: 'spec/requests/admin', ending: '_spec.rb', files: 96, median: 5.5, spread: 0.6 },
    { path: 'spec/requests/api', ending: '_spec.rb', files: 140, median: 4.5, spread: 0.6 },
    { path: 'spec/serializers', ending: '_serializer_spec.rb', files: 64, median: 0.5, spread: 0.4 },
    { path: 'spec/services', ending: '_spec.rb', files: 190, median: 3, spread: 0.8 },
  ],
  buildsPerDay: 6,
  boot: 2.4,
  queueing: 8,
  startSpread: 6,
  pieces: null,
  retries: { daysAgo: 6.4 },
  slowNode: { node_index: 7, daysAgo: 26, slowness: 1.34 },
  stories: [
    { path: 'spec/features/checkout_spec.rb', seconds: 58, noise: 0.07, changes: [{ daysAgo: 18.6, factor: 2.7 }] },
    { path: 'spec/features/search_orders_spec.rb', seconds: 74, noise: 0.35, flakiness: 0.08 },
    { path: 'spec/jobs/expire_session_job_spec.rb', seconds: 11, flakiness: 0.2, flakyPart: 1 / 3 },
    { path: 'spec/models/price_list_spec.rb', seconds: 6, changes: [40, 31, 22, 13, 5].map(daysAgo => ({ daysAgo, factor: 1.3 })) },
    { path: 'spec/requests/api/refund_payment_spec.rb', seconds: 14, flakiness: 0.03 },
    { path: 'spec/services/import_product_spec.rb', seconds: 41, noise: 0.08, changes: [{ daysAgo: 33.4, factor: 0.45 }] },
  ],
};

const jest: Project = {
  name: 'api-jest',
  mode: 'split',
  nodes: 4,
  folders: [
    { path: 'src/accounts', ending: '.test.ts', files: 44, median: 1.4, spread: 0.7 },
    { path: 'src/billing', ending: '.test.ts', files: 62, median: 2.4, spread: 0.8 },
    { path: 'src/catalogue', ending: '.test.ts', files: 51, median: 1.6, spread: 0.8 },
    { path: 'src/http', ending: '.test.ts', files: 33, median: 1, spread: 0.5 },
    { path: 'src/orders', ending: '.test.ts', files: 68, median: 2.2, spread: 0.8 },
    { path: 'src/webhooks', ending: '.test.ts', files: 42, median: 1.8, spread: 0.7 },
  ],
  buildsPerDay: 9,
  boot: 6,
  queueing: 4,
  startSpread: 3,
  pieces: null,
  retries: null,
  slowNode: null,
  stories: [
    { path: 'src/billing/tax-rate.test.ts', seconds: 19, noise: 0.1 },
    { path: 'src/orders/search-order.test.ts', seconds: 9, noise: 0.45, flakiness: 0.04 },
    { path: 'src/webhooks/export-feed.test.ts', seconds: 7, changes: [{ daysAgo: 9.3, factor: 3.4 }] },
  ],
};

const IMPORTS = ['creates products', 'updates prices', 'moves stock', 'skips duplicates', 'reports invalid rows'];
/** With what a case of each takes, relative to the others. */
const FORMATS = { CSV: 1, 'JSON lines': 1.2, 'a spreadsheet': 2.1, 'an archive': 1.6 };

const playwright: Project = {
  name: 'e2e-playwright',
  mode: 'queue',
  nodes: 8,
  folders: [
    { path: 'e2e/account', ending: '.spec.ts', files: 14, median: 75, spread: 0.4 },
    { path: 'e2e/admin', ending: '.spec.ts', files: 21, median: 110, spread: 0.5 },
    { path: 'e2e/checkout', ending: '.spec.ts', files: 18, median: 105, spread: 0.4 },
    { path: 'e2e/search', ending: '.spec.ts', files: 12, median: 65, spread: 0.4 },
    { path: 'e2e/stock', ending: '.spec.ts', files: 8, median: 90, spread: 0.4 },
  ],
  buildsPerDay: 4,
  boot: 9,
  queueing: 20,
  startSpread: 14,
  pieces: { runner: 'playwright', daysAgo: 8.3 },
  retries: null,
  slowNode: null,
  stories: [
    {
      path: 'e2e/admin/bulk-import.spec.ts',
      seconds: 860,
      noise: 0.05,
      changes: [{ daysAgo: 24.4, factor: 1.75 }],
      cases: IMPORTS.flatMap(what =>
        Object.entries(FORMATS).map(([format, part]) => ({ name: `bulk import › ${what} from ${format}`, part })),
      ),
    },
    { path: 'e2e/checkout/apply-voucher.spec.ts', seconds: 95, broken: { daysAgo: 5.6, mutedDaysAgo: 3.6 } },
    { path: 'e2e/checkout/guest-order.spec.ts', seconds: 190, noise: 0.3, flakiness: 0.03 },
  ],
};

export const projects: readonly Project[] = [rspec, jest, playwright];
