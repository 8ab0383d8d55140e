import { Empty } from '../parts/states.js';

export default function ProjectsPage() {
  return <Empty title="Nothing is shown here yet." />;
}
