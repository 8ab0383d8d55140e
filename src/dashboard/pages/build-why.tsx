import { Empty } from '../parts/states.js';

export default function BuildWhyPage() {
  return <Empty title="Nothing is shown here yet." />;
}
