// Template, style and script of the page, which stand beside this file and become part of the
// library when it is built (cmake/Embed.cmake). Private to the HTML view.
#pragma once

#include <string_view>

namespace spatialcert::certify::views {

extern const std::string_view kPageTemplate;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace spatialcert::certify::views
