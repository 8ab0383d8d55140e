import { Empty } from '../parts/states.js';

export default function FilesPage() {
  return <Empty title="Nothing is shown here yet." />;
}
