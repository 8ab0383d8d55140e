import { Empty } from '../parts/states.js';

export default function BuildPage() {
  return <Empty title="Nothing is shown here yet." />;
}
