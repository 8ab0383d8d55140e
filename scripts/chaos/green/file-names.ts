import { pick, type Random } from '../../../bench/random.js';

const SHAPES = ['spec/?_spec.rb', 'spec/models/?_spec.rb', 'app/[?].test.ts', 'spec/a file ?_spec.rb'];

export function fileNames(suite: string, count: number, random: Random): string[] {
  return Array.from({ length: count }, (_, i) => `${suite}/${pick(random, SHAPES).replace('?', String(i))}`);
}
