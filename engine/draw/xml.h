/* xml.h - any text as text of XML or HTML: the one place where that is escaped. */
#ifndef TUTTI_XML_H
#define TUTTI_XML_H

#include "core/base/text_impl.h"

/* Add a text that may come from anybody. What means something in XML is escaped, also inside of quotes; control
   characters, which XML does not know, are left out; bytes that are not UTF-8 become U+FFFD. NULL adds nothing. */
void tutti_xml_add(struct tutti_text *out, const char *text);
/* How many bytes the character of UTF-8 at `text` has; 0: it is not one that XML may hold. */
size_t tutti_xml_character(const char *text);
/* Add bytes in base64, as links with the scheme data: have them. */
void tutti_base64_add(struct tutti_text *out, const char *bytes, size_t count);

#endif
