import type { MinutesAnswer } from '../../protocol/answers/minutes.js';
import type { ProjectLine } from '../../protocol/messages/dashboard.js';

/** Properties of a page of a project. The page is made anew when the project or the id changes, and kept when the query does. */
export interface ProjectPageProps {
  project: ProjectLine;
  /** Of the build page, the build; else empty. */
  id: string;
}

/** Properties of a view of the build page. */
export interface BuildViewProps {
  project: ProjectLine;
  /** As in the address: the build, or one of its CI runs. */
  id: string;
  build: MinutesAnswer;
}

export interface PageProps {
  /** Of the page `docs`, the guide; else empty. */
  id: string;
}
