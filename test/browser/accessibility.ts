import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { show } from './operator.js';

const DESK = { width: 1280, height: 800 };
/** The narrowest window of each layout. */
const WIDTHS = [320, 390, 481, 801, 890, 980, 1200];

/** Loads axe into every page that a tab opens. The policy of the page forbids to add it as a script. */
export async function loadAxe(tab: Page): Promise<void> {
  await tab.addInitScript(axe.source);
}

/**
 * Returns what axe finds wrong with a page as it is shown now, one line for each element. `loadAxe` must come first.
 *
 * @param rule the only rule to check; all by default
 */
async function accessibilityProblems(tab: Page, rule?: string): Promise<string[]> {
  // No rule that runs reads style sheets, and a page from a folder may not.
  const options: axe.RunOptions = { resultTypes: ['violations'], preload: false, ...(rule && { runOnly: [rule] }) };
  const { violations } = (await tab.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
  );
}

/**
 * Expression for elements that are narrower than their content: the page, or a box from which text or bars reach into the next one. Code and cut text
 * may be.
 */
export const tooNarrow = `[...document.querySelectorAll('html, header *, main *')]
  .filter(box => box.clientWidth > 0 && box.scrollWidth > box.clientWidth && !box.closest('.path, .words, .unseen, pre, input, svg, .guide .scrolls'))
  .map(box => box.outerHTML.slice(0, 120))`;

/** Goes to a page, and expects that it has no accessibility problem in light and dark colours, and fits each layout. `loadAxe` must come first. */
export async function expectAccessible(tab: Page, page: string, open = show): Promise<void> {
  await tab.emulateMedia({ colorScheme: 'light' });
  await tab.setViewportSize(DESK);
  await open(tab, page);
  expect.soft(await tab.getByRole('alert').allInnerTexts(), page).toEqual([]);
  expect.soft(await accessibilityProblems(tab), page).toEqual([]);
  await tab.emulateMedia({ colorScheme: 'dark' });
  expect.soft(await accessibilityProblems(tab, 'color-contrast'), `${page} in dark colours`).toEqual([]);
  for (const width of WIDTHS) {
    await tab.setViewportSize({ width, height: 800 });
    // Charts are drawn again after the page has its new width.
    await expect.poll(() => tab.evaluate(tooNarrow), { message: `${page} at ${width} pixels`, interval: 20 }).toEqual([]);
  }
}
