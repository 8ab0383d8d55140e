import type { TestCase } from './junit.js';
import { type KnownFiles, normalizePath } from './known-files.js';

/**
 * The file that a test case is in, as it is known; null when none of what the report says of it is a known one. Asked in this
 * order: the attribute for it (rspec, minitest, jest-junit when told to); the suite's and the class's name (vitest, jest-junit with
 * `{filepath}`, the package of a Go test); the class as a Python module (pytest, which for a module that cannot be
 * imported has it in the name).
 */
export function findFile({ file, suite, classname, name }: TestCase, known: KnownFiles): string | null {
  // The file of an inherited test is the one that it is written in, its class the one that it is run in.
  if (file?.endsWith('.py')) {
    const found = findModule(classname, known);
    if (found !== null) return found;
  }
  if (file !== null) {
    const found = known.find(file);
    if (found !== null) return found;
  }
  for (const reported of [suite.name, classname]) {
    if (!isPathLike(reported)) continue;
    const found = known.find(reported);
    if (found !== null) return found;
  }
  return findModule(classname || name, known);
}

/** What people call suites and classes is seldom a path. */
function isPathLike(text: string): boolean {
  return /[/\\]/.test(text) || /^\S+\.[A-Za-z0-9]+$/.test(text);
}

/** tests.unit.test_cart.TestCart is a class in tests/unit/test_cart.py. */
function findModule(dotted: string, known: KnownFiles): string | null {
  if (/[/\\\n]/.test(dotted)) return null;
  const segments = dotted.split('.').filter(Boolean);
  for (let count = segments.length; count > 0; count -= 1) {
    const found = known.find(`${segments.slice(0, count).join('/')}.py`);
    if (found !== null) return found;
    // A package is no class: without it another module of the same name could be meant. Classes within a test module may be called anything.
    const isClass = /^_*\p{Lu}/u.test(segments[count - 1]!) || segments.slice(0, count - 1).some(isTestModule);
    if (!isClass) return null;
  }
  return null;
}

/** Whether pytest collects a Python module of this name, if nobody told it otherwise. */
export function isTestModule(name: string): boolean {
  return /^test_|_test$/.test(name);
}

/** What a report says itself that a case is in, though nobody knows it: a file, or the package of a Go test. Null: nothing. */
export function reportedFile({ file, suite, classname }: TestCase): string | null {
  if (file !== null) return normalizePath(file);
  return suite.name === classname && /^[^\s/]+(\/[^\s/]+)+$/.test(classname) ? classname : null;
}
