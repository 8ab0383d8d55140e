import { Empty } from '../parts/states.js';

export default function DocsPage() {
  return <Empty title="Nothing is shown here yet." />;
}
