import { Empty } from '../parts/states.js';

export default function BuildsPage() {
  return <Empty title="Nothing is shown here yet." />;
}
