/** The commands with which a person publishes a release, as a page. @param names its files */
export function publishing(version: string, commit: string, names: readonly string[]): string {
  const image = names.find(name => name.endsWith('-image.tar'))!;
  const chart = names.find(name => name.startsWith('ballast-chart-'))!;
  const ending = (end: string) => names.filter(name => name.endsWith(end) && name !== chart);
  return `# Publish Ballast ${version}

Run these commands in this folder, in their order. Each of them can be repeated after a failure. \`REGISTRY\` is where
images and charts go, such as \`ghcr.io/acme\`.

\`\`\`sh
sha256sum --check SHA256SUMS
git tag -a v${version} -m "Ballast ${version}" ${commit}
git push origin v${version}
${ending('.tgz')
  .map(name => `npm publish --access public ${name}`)
  .join('\n')}
${ending('.whl')
  .map(name => `twine upload ${name}`)
  .join('\n')}
skopeo copy --all oci-archive:${image} docker://$REGISTRY/ballast:${version}
helm push ${chart} oci://$REGISTRY/charts
gh release create v${version} --verify-tag --title "Ballast ${version}" --notes-file NOTES.md \\
  ${names.join(' ')}
\`\`\`
`;
}
