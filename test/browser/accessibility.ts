import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * Returns what axe finds wrong with a page as it is shown now, one line for each element.
 *
 * @param rule the only rule to check; all by default
 */
export async function accessibilityProblems(tab: Page, rule?: string): Promise<string[]> {
  // The debugger may run what the policy of the page forbids.
  if ((await tab.evaluate('typeof axe')) === 'undefined') await tab.evaluate(`${axe.source}; null`);
  const options: axe.RunOptions = { resultTypes: ['violations'], ...(rule && { runOnly: [rule] }) };
  const { violations } = (await tab.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults;
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${help}: ${target.join(' ')}: ${failureSummary}`),
  );
}
