const paths = ['spec/cart_spec.rb', 'spec/user_spec.rb'];

/** Values that the examples of several endpoints share. */
export const example = {
  node: { commit_hash: '4d5e6f', branch: 'main', node_total: 2, node_index: 0 },
  paths,
  listedFiles: paths.map(path => ({ path })),
  timedFiles: [{ path: 'spec/cart_spec.rb', time_execution: 41.5 }],
  id: '5f0c1d52-7f0b-4a7e-9d3c-2f1f0a6b8c11',
};
