import { type KnownFiles, normalizePath } from './known-files.js';
import type { TestCase } from './test-case.js';

/**
 * Returns the known file of a test case; null: the report names no known file. It looks at, in this order: the file attribute (rspec,
 * minitest, jest-junit with an option); the names of the suite and of the class (vitest, jest-junit with `{filepath}`, the package of a Go
 * test); the class as a Python module (pytest, which puts a module that cannot be imported into the name), and the names of the suite and of
 * the class as names that the list has, or as classes of its files (Surefire, Gradle, nextest, SwiftPM). A name that could be a module and
 * a class of different files is neither.
 */
export function findFile({ file, suite, classname, name }: TestCase, known: KnownFiles): string | null {
  // The file attribute of an inherited test names the base class. The class name says which file was run.
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
  const module = findModule(classname || name, known);
  const named = known.findName?.(suite.name) ?? known.findName?.(classname) ?? null;
  return module !== null && named !== null && module !== named ? null : (module ?? named);
}

/** Reports whether a name of a suite or a class could be a path. That of a binary (`crate::bin/name`) is matched in full only. */
function isPathLike(text: string): boolean {
  return (/[/\\]/.test(text) && !text.includes('::')) || /^\S+\.[A-Za-z0-9]+$/.test(text);
}

/** tests.unit.test_cart.TestCart is a class in tests/unit/test_cart.py. */
function findModule(dotted: string, known: KnownFiles): string | null {
  if (/[/\\\n]/.test(dotted)) return null;
  const segments = dotted.split('.').filter(Boolean);
  for (let count = segments.length; count > 0; count -= 1) {
    const found = known.find(`${segments.slice(0, count).join('/')}.py`);
    if (found !== null) return found;
    // Only a class may be dropped. Dropping a package could match another module of the same name. Inside a test module, any name is a class.
    const isClass = /^_*\p{Lu}/u.test(segments[count - 1]!) || segments.slice(0, count - 1).some(isTestModule);
    if (!isClass) return null;
  }
  return null;
}

/** Reports whether pytest collects a Python module of this name by default. */
export function isTestModule(name: string): boolean {
  return /^test_|_test$/.test(name);
}

/** Returns what the report itself names, known or not: a file, or the package of a Go test. Null: it names neither. */
export function reportedFile({ file, suite, classname }: TestCase): string | null {
  if (file !== null) return normalizePath(file);
  return suite.name === classname && /^[^\s/]+(\/[^\s/]+)+$/.test(classname) ? classname : null;
}
