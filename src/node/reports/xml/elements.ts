import sax from 'sax';
import { ReportError } from '../report.js';

/** Depth of the elements of a report. */
const REPORT_DEPTH = 64;

export type Attributes = Readonly<Record<string, string>>;

/** A failure may have its whole output in one attribute. */
const MAX_ATTRIBUTE_CHARACTERS = 16 * 2 ** 20;
// sax reads its limit when it creates a parser.
(sax as { MAX_BUFFER_LENGTH?: number }).MAX_BUFFER_LENGTH = MAX_ATTRIBUTE_CHARACTERS;

/** Receives the elements of a document. The first element has depth 1. */
export interface ElementHandler {
  open(name: string, attributes: Attributes, depth: number): void;
  close(name: string, depth: number): void;
}

/**
 * Reads the elements of an XML document, without its text. Entities that the document declares are refused, and nothing is fetched.
 * @returns whether it has an element
 */
export function readElements(xml: string, handler: ElementHandler): boolean {
  const parser = sax.parser(true, { position: true });
  let depth = 0;
  let hasRoot = false;
  parser.onerror = error => {
    throw new ReportError(`it is not well-formed XML: line ${parser.line + 1}: ${error.message.split('\n')[0]}`);
  };
  parser.onopentag = ({ name, attributes }) => {
    depth += 1;
    hasRoot = true;
    if (depth > REPORT_DEPTH) throw new ReportError(`its elements are nested deeper than ${REPORT_DEPTH}`);
    handler.open(name, attributes as Attributes, depth);
  };
  parser.onclosetag = name => {
    handler.close(name, depth);
    depth -= 1;
  };
  parser.write(replaceControls(xml)).close();
  return hasRoot && depth === 0;
}

/** Returns an attribute; empty: there is none. */
export function attribute(attributes: Attributes, name: string): string {
  return Object.hasOwn(attributes, name) ? attributes[name]! : '';
}

/** Replaces references to control characters, which XML forbids: some runners write terminal colours that way. */
function replaceControls(xml: string): string {
  return xml.replace(/&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));/gi, '\ufffd');
}
