import { Empty } from '../parts/states.js';

export default function NodesPage() {
  return <Empty title="Nothing is shown here yet." />;
}
