import type { BuildKey } from '../../src/server/engine/keys.js';
import { pick, type Random } from '../../test/testbed/random.js';
import { NOUNS, PEOPLE, VERBS } from './words.js';

/** A push that starts a CI run. */
export interface Push extends Omit<BuildKey, 'node_total'> {
  author: string;
}

interface Branch {
  name: string;
  author: string;
  pushes: number;
}

const OPEN_BRANCHES = 7;

/** Draws who pushes what: people open branches, push to them a few times, and merge them to main. */
export class Commits {
  readonly #random: Random;
  readonly #branches: Branch[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  next(): Push {
    const random = this.#random;
    const ready = this.#branches.filter(({ pushes }) => pushes > 1);
    if (ready.length > 0 && random() < 0.42) {
      const merged = pick(random, ready);
      this.#branches.splice(this.#branches.indexOf(merged), 1);
      return this.#push('main', merged.author);
    }
    const isNew = this.#branches.length === 0 || (this.#branches.length < OPEN_BRANCHES && random() < 0.4);
    const branch = isNew ? this.#open() : pick(random, this.#branches);
    branch.pushes += 1;
    return this.#push(branch.name, branch.author);
  }

  /** The main branch again, as a timer starts it every night. */
  nightly(): Push {
    return this.#push('main', 'nightly');
  }

  #open(): Branch {
    const random = this.#random;
    const words = `${pick(random, VERBS)}-${pick(random, NOUNS)}`.replaceAll('_', '-');
    const name = `${pick(random, ['feature', 'feature', 'fix', 'chore'])}/${words}`;
    const branch = { name, author: pick(random, PEOPLE), pushes: 0 };
    this.#branches.push(branch);
    return branch;
  }

  #push(branch: string, author: string): Push {
    const commit_hash = Array.from({ length: 40 }, () => Math.floor(16 * this.#random()).toString(16)).join('');
    return { commit_hash, branch, author };
  }
}
