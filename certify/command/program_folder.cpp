#include "certify/command/program_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

namespace spatialcert::command {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtensions[] = {".json", ".json.zst"};

/// Without its extension; empty if it has another one.
std::string name_of(const std::string& file) {
  for (const std::string_view extension : kExtensions) {
    if (file.ends_with(extension)) return file.substr(0, file.size() - extension.size());
  }
  return {};
}

class Search {
 public:
  explicit Search(ProgramFolder& out) : out_(out) {}

  void enter(const std::string& folder, const std::string& prefix) {
    struct stat about {};
    if (::stat(folder.c_str(), &about) != 0) {
      refuse(folder, "a folder that can be read", "none");
      return;
    }
    if (!visited_.emplace(about.st_dev, about.st_ino).second) {
      refuse(folder, "folders that are reached in one way; remove the link",
             "a folder that was read already");
      return;
    }
    std::error_code error;
    fs::directory_iterator it(folder, error);
    std::vector<std::string> names;
    for (; !error && it != fs::directory_iterator(); it.increment(error))
      names.push_back(it->path().filename().string());
    if (error) {
      refuse(folder, "a folder that can be read", error.message());
      return;
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) look_at(folder + "/" + name, prefix + name);
  }

 private:
  void look_at(const std::string& path, const std::string& relative) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) {
      enter(path, relative + "/");
      return;
    }
    if (!is_named(relative)) {
      // A link that leads nowhere may have been a folder.
      if (status.type() == fs::file_type::not_found || status.type() == fs::file_type::none)
        refuse(path, "a file, a folder or a link to one", "a link that leads nowhere");
      return;
    }
    const std::string name = name_of(relative);
    if (name.empty() || name.ends_with('/') || has_controls(name)) {
      refuse(path, "a name that can be printed before .json", "another one");
    } else if (!fs::is_regular_file(status)) {
      put(name, path, ir::Refusal{path, 0, "", "a program file", "something that is no file"});
    } else {
      put(name, path, path);
    }
  }

  // Names are printed, and must not look like lines of a report.
  static bool has_controls(const std::string& name) {
    return std::any_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
    });
  }

  static bool is_named(const std::string& relative) {
    return std::any_of(std::begin(kExtensions), std::end(kExtensions),
                       [&](std::string_view extension) { return relative.ends_with(extension); });
  }

  void put(const std::string& name, const std::string& path,
           std::variant<std::string, ir::Refusal> what) {
    const auto [known, fresh] = out_.programs.emplace(name, std::move(what));
    if (fresh) return;
    const auto* first = std::get_if<std::string>(&known->second);
    known->second = ir::Refusal{path, 0, "", "one file per program; remove one of them",
                                first == nullptr ? "a second one" : "a second one: " + *first};
  }

  void refuse(const std::string& path, std::string expected, std::string found) {
    out_.refusals.push_back({path, 0, "", std::move(expected), std::move(found)});
  }

  ProgramFolder& out_;
  std::set<std::pair<dev_t, ino_t>> visited_;
};

}  // namespace

ProgramFolder find_programs(const std::string& path) {
  ProgramFolder out;
  Search(out).enter(path, "");
  return out;
}

}  // namespace spatialcert::command
