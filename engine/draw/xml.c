/* xml.c - texts for XML and HTML. */
#include "xml.h"

#include <stdint.h>

size_t tutti_xml_character(const char *text) {
  const unsigned char *byte = (const unsigned char *)text;
  size_t length = byte[0] < 0x80 ? 1 : byte[0] < 0xc2 ? 0 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
  uint32_t code = length <= 1 ? byte[0] : byte[0] & (0xffU >> (length + 1));
  if (byte[0] > 0xf4 || length == 0)
    return 0;
  for (size_t i = 1; i < length; i++) {
    if ((byte[i] & 0xc0) != 0x80)
      return 0;
    code = code << 6 | (byte[i] & 0x3fU);
  }
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = code >= 0xd800 && code<0xe000, beyond = code> 0x10ffff || (code & 0xfffe) == 0xfffe;
  bool control = (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || (code >= 0x7f && code < 0xa0);
  return code < least[length] || surrogate || beyond || control ? 0 : length;
}

void tutti_xml_add(struct tutti_text *out, const char *text) {
  while (text && *text) {
    size_t length = tutti_xml_character(text);
    unsigned char byte = (unsigned char)*text;
    if (length == 0) {
      if (byte >= 0x80)
        tutti_text_add(out, "\xef\xbf\xbd");
      length = 1;
    } else if (byte == '&' || byte == '<' || byte == '>' || byte == '"' || byte == '\'')
      tutti_text_add(out, "&#%d;", byte);
    else
      tutti_text_add(out, "%.*s", (int)length, text);
    text += length;
  }
}

void tutti_base64_add(struct tutti_text *out, const char *bytes, size_t count) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char piece[1025];
  size_t used = 0;
  for (size_t i = 0; i < count; i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; k++)
      three = three << 8 | (i + k < count ? (unsigned char)bytes[i + k] : 0U);
    for (size_t k = 0; k < 4; k++)
      piece[used++] = i + k <= count ? digits[three >> (18 - 6 * k) & 63] : '=';
    if (used + 4 >= sizeof piece || i + 3 >= count) {
      tutti_text_add(out, "%.*s", (int)used, piece);
      used = 0;
    }
  }
}
